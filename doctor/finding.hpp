#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace hindsight::doctor {

/// How bad a finding is. A note is worth knowing and wrong only perhaps; it leaves its check ok.
enum class Severity { note, warning, error };

/// One thing that is not as it should be.
struct Finding {
  Severity severity = Severity::error;
  std::string object;   ///< "ServiceAccount hindsight-system/hindsight"
  std::string found;    ///< What was found, and what follows from it.
  std::string allowed;  ///< What should be there.
  std::string advice;   ///< What to do, in a sentence.
  std::string command;  ///< The line for a shell that does it; empty: no command can.
};

/// How a check went.
enum class Standing {
  looked,   ///< The findings say what it found.
  skipped,  ///< There is nothing to look at, or it was not asked for.
  blind,    ///< It could not look.
};

/// What came of one check.
struct Outcome {
  Standing standing = Standing::looked;
  std::string summary;  ///< What was looked at; or why nothing was.
  std::vector<Finding> findings;
  std::size_t more = 0;  ///< Findings beyond `findings_max`.

  /// Of one check; what is beyond is counted.
  static constexpr std::size_t findings_max = 200;

  void add(Finding finding) {
    if (findings.size() < findings_max)
      findings.push_back(std::move(finding));
    else
      ++more;
  }
};

[[nodiscard]] inline Outcome skipped(std::string why) { return {Standing::skipped, std::move(why), {}, 0}; }
[[nodiscard]] inline Outcome blind(std::string why) { return {Standing::blind, std::move(why), {}, 0}; }

}  // namespace hindsight::doctor
