#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "evidence/verify/records_check.hpp"

namespace hindsight::evidence {

struct VerifyOptions {
  std::filesystem::path folder;  ///< With a manifest; else the next two are given.
  std::filesystem::path records, checkpoints;
  std::vector<PublicKey> keys;
  bool accept_unsigned = false;
};

struct VerifyReport {
  std::vector<std::string> failures;
  std::vector<std::string> beside;  ///< Files of the folder that the manifest does not name.
  bool has_manifest = false;
  std::uint64_t checkpoints = 0;
  RecordsReport records;
  bool accept_unsigned = false;

  /// Nothing is wrong, and every included record is proved: by a signature, or, where that was asked for, by a checkpoint.
  [[nodiscard]] bool good() const;
};

/// Checks evidence. What is wrong with it ends up in the report. Errors: invalid and not_found (there is no such evidence), denied, io.
[[nodiscard]] Result<VerifyReport> verify_evidence(const VerifyOptions& options);

/// A few lines for people: what is wrong, what was proved, what was not.
void print_report(std::ostream& out, const VerifyReport& report);
void print_json(std::ostream& out, const VerifyReport& report);

}  // namespace hindsight::evidence
