#pragma once

#include <string>

namespace hindsight::connectors::kubernetes {

/// Whether the text holds at least one certificate, and nothing that begins as one and is none.
[[nodiscard]] bool holds_certificates(const std::string& pem);

/// Whether both can be read and the key is another one than the certificate's, as for a moment when somebody replaces two files.
[[nodiscard]] bool are_strangers(const std::string& certificate_pem, const std::string& key_pem);

}  // namespace hindsight::connectors::kubernetes
