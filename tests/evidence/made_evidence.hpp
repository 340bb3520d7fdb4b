#pragma once

// Evidence as files and as lines, made of a few short records.

#include <fstream>
#include <string>
#include <vector>

#include "evidence/chain.hpp"
#include "evidence/checkpoint.hpp"
#include "evidence/files.hpp"
#include "evidence/keys.hpp"
#include "evidence/lines.hpp"
#include "tests/events/temporary_folder.hpp"

namespace hindsight::test {

/// A record of a made-up log: number n of domain "default".
struct MadeRecord {
  std::string bytes;
  std::uint64_t number = 0;
  [[nodiscard]] evidence::Content content() const {
    return {"default", number, 1, Time{1'767'225'600'000'000 + static_cast<std::int64_t>(number)}, std::as_bytes(std::span(bytes))};
  }
};

inline evidence::SigningKey made_key() { return evidence::SigningKey::make().value(); }

/// Twenty records in a chain, with a checkpoint behind each fifth.
class MadeLog {
 public:
  explicit MadeLog(const evidence::SigningKey* key, std::size_t records = 20, std::size_t every = 5) {
    evidence::Chain chain;
    heads.push_back(chain.head());
    for (std::size_t n = 1; n <= records; ++n) {
      made.push_back({"record " + std::to_string(n), n});
      chain.add(made.back().content());
      heads.push_back(chain.head());
      if (n % every != 0) continue;
      evidence::Checkpoint c{
          .position = n, .head = chain.head(), .time = Time{1'795'788'000'000'000}, .release = "0.1.0", .key = {}, .signature = {}};
      if (key != nullptr) (void)key->sign(c);
      checkpoints.push_back(c);
    }
  }

  /// Lines from the record behind `from` to `to`; those in `included` whole, the others by their hashes.
  [[nodiscard]] std::vector<std::string> lines(std::uint64_t from, std::uint64_t to, const std::vector<std::uint64_t>& included) const {
    std::vector<std::string> out{evidence::start_line(heads.at(from))};
    evidence::Chain chain;
    for (std::uint64_t n = from + 1; n <= to; ++n) {
      const auto content = made.at(n - 1).content();
      const bool whole = std::find(included.begin(), included.end(), n) != included.end();
      out.push_back(whole ? evidence::record_line(n, n, content) : evidence::withheld_line(n, chain.content(content)));
    }
    return out;
  }

  std::vector<MadeRecord> made;
  std::vector<evidence::Head> heads;  ///< Behind each record; the first: before all.
  std::vector<evidence::Checkpoint> checkpoints;
};

inline void write_file(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

inline std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const auto& line : lines) out += line;
  return out;
}

/// A folder of evidence with its manifest.
class MadeFolder {
 public:
  MadeFolder(const std::vector<std::string>& records, const std::vector<evidence::Checkpoint>& checkpoints) {
    write_file(file("records.jsonl"), joined(records));
    std::string text;
    for (const auto& c : checkpoints) text += evidence::checkpoint_line(c);
    write_file(file("checkpoints.jsonl"), text);
    write_file(file("notes.txt"), "what it is about\n");
    pack({"records.jsonl", "checkpoints.jsonl", "notes.txt"});
  }
  /// Writes the manifest anew, over these files as they are.
  void pack(const std::vector<std::string>& files) const {
    std::string entries;
    for (const auto& name : files) {
      const auto entry = evidence::measure(path() / name).value();
      entries += (entries.empty() ? "" : ",") +
                 ("\"" + name + "\":{\"bytes\":" + std::to_string(entry.bytes) + ",\"sha256\":\"" + evidence::hex(entry.sha256) + "\"}");
    }
    write_file(file("manifest.json"), R"({"format":"hindsight-evidence","version":1,"about":"a test","files":{)" + entries + "}}");
  }
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }

 private:
  TemporaryFolder folder_;
};

}  // namespace hindsight::test
