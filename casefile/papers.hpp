#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "casefile/account.hpp"
#include "casefile/log_part.hpp"
#include "casefile/proof.hpp"

namespace hindsight::casefile {

/// How a file came about, beside what it says.
struct Making {
  std::string release;
  std::string folder;  ///< Into which it unpacks.
  Proof proof;
  std::optional<LogPart> log_part;  ///< Nothing: without log.db.
};

/// "evidence-team-a-train": of a name as Kubernetes has it the name itself.
[[nodiscard]] std::string folder_name(const projections::Target& target);

/// Names and values for the head of the page and of README.md.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> facts_of(const Account& account, const Making& making);

/// Which moment the answer is about, and why that one.
[[nodiscard]] std::string moment_words(const Account& account);

/// Files and what is in them.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> files_of(const Making& making);

/// A step of a check, and the command for it (empty: none).
struct Check {
  std::string words, command;
};
[[nodiscard]] std::vector<Check> checks_of(const Account& account, const Making& making);

/// What is proved, whose data is in it, what was left out; each a sentence or two.
[[nodiscard]] std::vector<std::string> remarks_of(const Account& account, const Making& making);

/// What a reader sees first.
[[nodiscard]] std::string readme_of(const Account& account, const Making& making);

/// As `hindsight why` prints it.
[[nodiscard]] std::string why_text(const Account& account);
[[nodiscard]] std::string why_json(const Account& account);
/// As `hindsight history -o json` prints it, but for what was left out.
[[nodiscard]] std::string history_json(const Account& account);
[[nodiscard]] std::string life_json(const Account& account);
[[nodiscard]] std::string decisions_json(const Account& account);
[[nodiscard]] std::string plots_json(const Account& account);

}  // namespace hindsight::casefile
