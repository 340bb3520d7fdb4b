#include "casefile/make.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

#include "casefile/archive.hpp"
#include "casefile/output_file.hpp"
#include "casefile/page.hpp"
#include "evidence/chain.hpp"
#include "evidence/files.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::casefile {
namespace {

using projections::Json;

/// Where the bytes of an entry are: here, or in a file.
struct Entry {
  std::string bytes, path;
};

Result<evidence::FileEntry> measured(const Entry& entry) {
  if (!entry.path.empty()) return evidence::measure(entry.path);
  return evidence::FileEntry{entry.bytes.size(), evidence::sha256(std::as_bytes(std::span(entry.bytes)))};
}

/// Length and hash of each file, and what it is about (docs/log-format.md).
Result<std::string> manifest_of(const std::map<std::string, Entry>& entries, const Account& account, const Making& making) {
  Json out{{"format", evidence::manifest_format}, {"version", evidence::manifest_version}, {"release", making.release}};
  Json about{{"kind", account.target.kind}, {"namespace", account.target.namespace_}, {"name", account.target.name}};
  out["about"] = std::move(about);
  out["log"] = account.log;
  out["domain"] = account.domain;
  out["position"] = account.position;
  out["time"] = format_rfc3339_micro(account.time);
  out["explainedAt"] = account.answer.position;
  out["firstRecord"] = account.first;
  out["lastRecord"] = account.last;
  const Bearing& bearing = account.bearing;
  out["recordsIncluded"] = making.proof.included;
  out["recordsLeftOut"] = bearing.own_left_out + bearing.configuration_left_out + bearing.others_left_out + making.proof.too_large;
  Json files = Json::object();
  for (const auto& [name, entry] : entries) {
    const auto file = measured(entry);
    if (!file) return tl::unexpected(file.error());
    files[name] = {{"bytes", file->bytes}, {"sha256", evidence::hex(file->sha256)}};
  }
  out["files"] = std::move(files);
  return escaped_document(out.dump(2, ' ', false, Json::error_handler_t::replace), false) + "\n";
}

Result<Proof> write_records(const events::Log& log, const Account& account, const TemporaryFolder& folder,
                            std::map<std::string, Entry>& entries, const GatherProgress& progress) {
  std::map<std::string, std::ofstream> files;
  for (const char* name : {evidence::records_name, evidence::checkpoints_name, "decoded.jsonl"}) {
    files[name].open(folder.file(name), std::ios::binary | std::ios::trunc);
    entries[name].path = folder.file(name);
  }
  auto proof =
      write_proof(log, account.bearing, files[evidence::records_name], files[evidence::checkpoints_name], files["decoded.jsonl"], progress);
  if (!proof) return proof;
  for (auto& [name, file] : files) {
    file.close();
    if (!file) return fail(ErrorKind::io, folder.file(name) + ": cannot be written");
  }
  return proof;
}

}  // namespace

Result<Made> make_evidence(const events::Log& log, const Request& request, int file, const GatherProgress& progress) {
  auto account = gather(log, request.question, progress);
  if (!account) return tl::unexpected(account.error());
  const auto folder = TemporaryFolder::create();
  if (!folder) return tl::unexpected(folder.error());
  Made made{std::move(*account), {request.release, folder_name(request.question.target), {}, {}}};
  std::map<std::string, Entry> entries;  // by name: README.md comes first
  auto proof = write_records(log, made.account, *folder, entries, progress);
  if (!proof) return tl::unexpected(proof.error());
  made.making.proof = *proof;
  if (request.with_log) {
    entries["log.db"].path = folder->file("log.db");
    auto part = write_log_part(log, made.account, folder->file("log.db"), progress);
    if (!part) return tl::unexpected(part.error());
    made.making.log_part = *part;
  }
  entries["README.md"].bytes = readme_of(made.account, made.making);
  entries["index.html"].bytes = page_of(made.account, made.making);
  entries["why.txt"].bytes = why_text(made.account);
  entries["why.json"].bytes = why_json(made.account);
  entries["history.json"].bytes = history_json(made.account);
  entries["life.json"].bytes = life_json(made.account);
  entries["decisions.json"].bytes = decisions_json(made.account);
  entries["plots.json"].bytes = plots_json(made.account);
  auto manifest = manifest_of(entries, made.account, made.making);
  if (!manifest) return tl::unexpected(manifest.error());
  entries[evidence::manifest_name].bytes = std::move(*manifest);

  auto archive = Archive::open(file, made.making.folder, made.account.time);
  if (!archive) return tl::unexpected(archive.error());
  for (const auto& [name, entry] : entries)
    if (auto ok = entry.path.empty() ? archive->add(name, entry.bytes) : archive->add_file(name, entry.path); !ok)
      return tl::unexpected(ok.error());
  if (auto ok = archive->finish(); !ok) return tl::unexpected(ok.error());
  return made;
}

}  // namespace hindsight::casefile
