#include "evidence/checkpoint.hpp"

#include <algorithm>

#include "evidence/keys.hpp"

namespace hindsight::evidence {

std::string signed_text(const Checkpoint& c) {
  return "hindsight checkpoint 1\nbegin " + std::to_string(c.head.begin) + "\nrecords " + std::to_string(c.head.records) + "\nhash " +
         hex(c.head.hash) + "\ntime " + std::to_string(c.time.micros) + "\nrelease " + c.release + "\n";
}

Result<void> check_form(const Checkpoint& c) {
  const auto wrong = [&](const std::string& what) {
    return fail(ErrorKind::invalid, "checkpoint at record " + std::to_string(c.head.records) + ": " + what);
  };
  if (c.head.records < c.head.begin)
    return wrong("its chain begins behind record " + std::to_string(c.head.begin) + "; allowed: up to its own record");
  if (c.release.size() > release_bytes_max || !std::ranges::all_of(c.release, [](char ch) { return ch > ' ' && ch <= '~'; }))
    return wrong("release has " + std::to_string(c.release.size()) + " bytes, or others than printable ASCII; allowed: at most " +
                 std::to_string(release_bytes_max) + ", without blanks");
  if (c.signature.empty() && c.key.empty()) return {};
  if (c.signature.size() != signature_bytes)
    return wrong("signature has " + std::to_string(c.signature.size()) + " bytes; allowed: " + std::to_string(signature_bytes) +
                 ", or none with no key");
  if (!is_key_id(c.key)) return wrong("key is no id of a key; allowed: " + std::to_string(key_id_digits) + " hexadecimal digits");
  return {};
}

}  // namespace hindsight::evidence
