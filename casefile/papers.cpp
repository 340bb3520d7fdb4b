#include "casefile/papers.hpp"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "casefile/escape.hpp"
#include "projections/format.hpp"
#include "vocabulary/printable.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::casefile {
namespace {

using projections::Json;

std::string document(const Json& json) { return escaped_document(json.dump(2, ' ', false, Json::error_handler_t::replace), false) + "\n"; }

std::string at_words(Position position, Time time) {
  return std::to_string(position) + (time.is_set() && time.micros > 0 ? ", " + format_rfc3339_micro(time) : std::string());
}

/// It is asked about as a time where that is later than the last record: ages count to it.
std::string at_option(const Account& account) {
  return account.answer.position == account.position && account.asked_by_time ? format_rfc3339_micro(account.answer.time)
                                                                              : std::to_string(account.answer.position);
}

std::string target_word(const projections::Target& target) {
  return shell_word((target.is_workload() ? "workload" : target.kind) + "/" + target.namespace_ + "/" + target.name);
}

/// "hindsight why job/default/train --at 120", for the log of that name.
std::string question(const Account& account, const std::string& command, const std::string& at, const std::string& log) {
  std::string out = "hindsight " + command + " " + target_word(account.target) + " --at " + at;
  if (account.domain != "default") out += " --domain " + shell_word(account.domain);
  return out + " --log " + log;
}

std::string records_words(std::size_t n) { return projections::counted(n, "record"); }

Json answer_json(const Answer& answer) {
  Json out{{"position", answer.position}, {"time", format_rfc3339_micro(answer.time)}};
  if (!answer.occasion.empty()) out["occasion"] = answer.occasion;
  if (answer.why) out.update(projections::to_json(*answer.why));
  return out;
}

std::string proved_words(const Proof& proof) {
  if (proof.included == 0) return "No record is included.";
  std::string out = "records.jsonl has " + records_words(proof.included) + " in full";
  out += proof.hashes == 0
             ? "."
             : ", and the hashes of " + std::to_string(proof.hashes) + " more that stand between them and the next checkpoint.";
  const std::size_t without = proof.included - proof.under_signed - proof.under_unsigned;
  if (proof.under_signed > 0)
    out += " Behind " +
           (proof.under_signed == proof.included ? std::string("each of them") : std::to_string(proof.under_signed) + " of them") +
           " is a signed checkpoint: whoever trusts its key knows that these records stood in the log, unchanged, when it was signed.";
  if (proof.under_unsigned > 0)
    out += " Behind " + std::to_string(proof.under_unsigned) +
           " of them are only checkpoints without a signature: they are equal to what the log said if its owner names the same hash.";
  if (without > 0)
    out += (without == proof.included ? " No checkpoint is near behind them"
                                      : " No checkpoint is near behind " + std::to_string(without) + " of them") +
           ": that these stood in the log is not proved by this file. 'hindsight audit --checkpoint' makes one, and evidence that is made "
           "afterwards has it.";
  return out;
}

void add_left_out(std::vector<std::string>& out, std::size_t n, const std::string& what) {
  if (n > 0) out.push_back("Left out: " + std::to_string(n) + " " + what);
}

}  // namespace

std::string folder_name(const projections::Target& target) {
  constexpr std::size_t most = 150;
  std::string out = "evidence-" + target.namespace_ + "-" + target.name;
  for (char& c : out)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '.') c = '_';
  return std::string(cut_text(out, most));
}

std::string moment_words(const Account& account) {
  const std::string here = at_words(account.answer.position, account.answer.time);
  if (account.gone != 0) return here + ": just before it was deleted, by record " + std::to_string(account.gone);
  if (account.answer.position != account.position)
    return here + ": the last decision about it that can be explained; at " + std::to_string(account.position) + " it was not there";
  return here;
}

std::vector<std::pair<std::string, std::string>> facts_of(const Account& account, const Making& making) {
  std::vector<std::pair<std::string, std::string>> out{
      {"About", account.target.text()},
      {"Log", account.log},
      {"Domain", account.domain},
      {"Explained at", moment_words(account)},
      {"Records about it", "from " + std::to_string(account.first) + " to " + std::to_string(account.last)},
      {"Read up to", at_words(account.position, account.time)},
      {"Made by", "hindsight " + making.release}};
  if (account.answer.why && !account.answer.why->job.empty()) out.insert(out.begin() + 1, {"Job", account.answer.why->job});
  return out;
}

std::vector<std::pair<std::string, std::string>> files_of(const Making& making) {
  std::vector<std::pair<std::string, std::string>> out{
      {"README.md", "this overview, and how to check the rest"},
      {"index.html", "the same for a browser, with pictures; it loads nothing and runs nothing"},
      {"why.txt, why.json", "the answer of 'hindsight why' at that moment"},
      {"decisions.json", "the same answer at each decision about it, without remedies"},
      {"history.json", "every record that changed it, as 'hindsight history' tells it"},
      {"life.json", "what it waited for, how long it ran, what it lost"},
      {"plots.json", "the numbers behind the pictures; cpu in thousandths of a core"},
      {"records.jsonl", "the records that bear on it, byte by byte, with the hashes that link them to checkpoints"},
      {"checkpoints.jsonl", "checkpoints of the log's chain of hashes, with their signatures"},
      {"decoded.jsonl", "what these records say, in JSON; role: own, decision, configuration, other"},
      {"manifest.json", "length and SHA-256 of each file"}};
  if (making.log_part)
    out.emplace_back("log.db", "records " + std::to_string(making.log_part->from) + " to " + std::to_string(making.log_part->to) +
                                   " of the log, with which 'hindsight' gives the same answers");
  return out;
}

std::vector<Check> checks_of(const Account& account, const Making& making) {
  std::vector<Check> out;
  const bool unsigned_only = making.proof.under_signed == 0 && making.proof.under_unsigned > 0;
  const std::string words =
      "That the records stood in the log: hindsight-verify needs neither cluster nor log, and computes every hash anew. ";
  if (unsigned_only)
    out.push_back({words + "No checkpoint in this file is signed, so it shows accidents, and no fraud.",
                   "hindsight-verify " + making.folder + " --unsigned"});
  else
    out.push_back({words + "KEY.pem is the public key of whoever runs Hindsight there; get it from them, and not with this file.",
                   "hindsight-verify " + making.folder + " --public-key KEY.pem"});
  const std::string at = at_option(account);
  if (making.log_part) {
    out.push_back(
        {"That the explanation follows from the records: log.db has all records that it depends on, and hindsight computes it anew. What "
         "it prints is why.txt.",
         "cd " + making.folder + " && " + question(account, "why", at, "log.db") + " | diff - why.txt"});
    out.push_back({"That the records of log.db follow from each other: the decisions are made once more.",
                   "cd " + making.folder + " && hindsight verify --log log.db" +
                       (account.domain == "default" ? std::string() : " --domain " + shell_word(account.domain))});
  }
  out.push_back({making.log_part ? "The same for whoever has the log itself."
                                 : "That the explanation follows from the log, for whoever has it: what it prints is why.txt.",
                 question(account, "why", at, "LOG")});
  out.push_back({"The history, from the log as well.",
                 question(account, "history", std::to_string(account.position), making.log_part ? "log.db" : "LOG")});
  return out;
}

std::vector<std::string> remarks_of(const Account& account, const Making& making) {
  const Proof& proof = making.proof;
  std::vector<std::string> out{proved_words(proof)};
  out.push_back(
      "Only the records are proved by the chain. The explanation, the pictures and decoded.jsonl were made from them by the release named "
      "above; manifest.json says that they are complete, and not who made them.");
  out.push_back(
      "A decision is one record for everybody whom it concerns, so records.jsonl and decoded.jsonl name Workloads of others, with their "
      "namespaces, queues and amounts. Hashes tell nothing of what they stand for.");
  if (making.log_part)
    out.push_back(
        "log.db holds all records of that stretch of the log: the jobs, queues and nodes of everybody. Give it only to who may see these.");
  add_left_out(out, account.bearing.own_left_out, "records about it, in the middle: a file has the first and the last.");
  add_left_out(out, account.bearing.configuration_left_out, "changes of the configuration, in the middle.");
  add_left_out(out, account.bearing.others_left_out, "records of others, in the middle.");
  add_left_out(out, proof.too_large, "records that would make the file too large; they stand there by their hashes.");
  add_left_out(out, proof.replaced, "records of writers that had been replaced; they have no effect.");
  add_left_out(out, account.decisions_left_out, "decisions about it, in the middle, of which decisions.json has no explanation.");
  add_left_out(out, account.history_left_out, "entries of its history, in the middle.");
  add_left_out(out, account.queues_left_out, "ClusterQueues that it was in, of which there are no pictures.");
  add_left_out(out, account.pairs_left_out, "flavors and resources of its ClusterQueue, of which there are no pictures.");
  return out;
}

std::string readme_of(const Account& account, const Making& making) {
  std::string out = "# Evidence: " + printable(account.target.text()) + "\n\n";
  if (account.answer.why) out += markdown_code(account.answer.why->headline) + "\n\n";
  out +=
      "What a log of Hindsight says about one workload, for readers who have neither the cluster nor the log. Open index.html to read "
      "it.\n\n";
  for (const auto& [name, value] : facts_of(account, making)) out += "- " + name + ": " + markdown_code(value) + "\n";
  out += "\n## Files\n\n| file | what |\n|---|---|\n";
  for (const auto& [name, what] : files_of(making)) out += "| " + name + " | " + what + " |\n";
  out += "\n## How to check it\n";
  for (const auto& check : checks_of(account, making)) out += "\n" + check.words + "\n\n    " + printable(check.command) + "\n";
  out += "\n## What to know\n\n";
  for (const auto& remark : remarks_of(account, making)) out += "- " + remark + "\n";
  return out;
}

std::string why_text(const Account& account) {
  const Answer& answer = account.answer;
  const std::string head = "At " + at_words(answer.position, answer.time) + "\n";
  if (!answer.why) return head + printable(account.target.text()) + " was not there, and no decision was made about it\n";
  return printable_lines(head + projections::to_text(*answer.why));
}

std::string why_json(const Account& account) { return document(answer_json(account.answer)); }

std::string history_json(const Account& account) {
  Json out = Json::array();
  for (const auto& entry : account.history) out.push_back(projections::to_json(entry));
  return document(out);
}

std::string life_json(const Account& account) { return document(account.life ? projections::to_json(*account.life) : Json::object()); }

std::string decisions_json(const Account& account) {
  Json out = Json::array();
  for (const auto& answer : account.decisions) out.push_back(answer_json(answer));
  return document(out);
}

std::string plots_json(const Account& account) {
  Json out = Json::array();
  for (const auto& plot : account.plots) out.push_back(to_json(plot));
  // Steps are many, and each of them on four lines is nothing to read.
  return escaped_document(out.dump(-1, ' ', false, Json::error_handler_t::replace), false) + "\n";
}

}  // namespace hindsight::casefile
