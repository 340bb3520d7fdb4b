#pragma once

#include <string>

#include "casefile/account.hpp"
#include "casefile/papers.hpp"
#include "events/log.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::casefile {

struct Request {
  Question question;
  std::string release;    ///< That makes it.
  bool with_log = false;  ///< With the part of the log that the answers follow from: the records of everybody.
};

/// What was made.
struct Made {
  Account account;
  Making making;
};

/// Writes the evidence to an open file or pipe, as a .tar.gz; its bytes follow from log and request. Bigger parts are kept in a folder of
/// this process under $TMPDIR meanwhile. Errors: those of gather, write_proof, write_log_part; io.
[[nodiscard]] Result<Made> make_evidence(const events::Log& log, const Request& request, int file, const GatherProgress& progress = {});

}  // namespace hindsight::casefile
