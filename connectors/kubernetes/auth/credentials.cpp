#include "connectors/kubernetes/auth/credentials.hpp"

#include "connectors/kubernetes/auth/authority.hpp"
#include "connectors/kubernetes/auth/base64.hpp"
#include "connectors/kubernetes/auth/exec_plugin.hpp"
#include "connectors/kubernetes/auth/pem.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

/// Header values must not end the header.
bool is_header_value(const std::string& text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return false;
  }
  return true;
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

}  // namespace

bool Credentials::can_change() const {
  const AuthSource& user = connection_.user;
  return user.exec || !user.token_file.empty() || !user.client_certificate_file.empty() || !user.client_key_file.empty();
}

bool Credentials::files_changed(const Credential& credential) const { return state_of_files() != credential.files_seen; }

std::string Credentials::state_of_files() const {
  std::string out;
  const AuthSource& user = connection_.user;
  for (const auto* file : {&user.token_file, &user.client_certificate_file, &user.client_key_file}) {
    if (file->empty()) continue;
    out += state_of_file(*file);
  }
  return out;
}

Result<Credential> Credentials::load(const std::stop_token& stop) const {
  const AuthSource& user = connection_.user;
  Credential out;
  // Before reading: a change in between is then seen as a change.
  out.files_seen = state_of_files();
  out.client_certificate_pem = user.client_certificate_pem;
  out.client_key_pem = user.client_key_pem;
  std::string token = user.token;

  if (out.client_certificate_pem.empty() && !user.client_certificate_file.empty()) {
    auto pem = read_small_file(user.client_certificate_file, user.description + ": client-certificate");
    if (!pem) return tl::unexpected(pem.error());
    out.client_certificate_pem = *std::move(pem);
  }
  if (out.client_key_pem.empty() && !user.client_key_file.empty()) {
    auto pem = read_small_file(user.client_key_file, user.description + ": client-key");
    if (!pem) return tl::unexpected(pem.error());
    out.client_key_pem = *std::move(pem);
  }
  if (!user.client_certificate_file.empty() && are_strangers(out.client_certificate_pem, out.client_key_pem)) {
    return fail(ErrorKind::invalid, user.description + ": client-key: found a key that is not that of client-certificate " +
                                        user.client_certificate_file.string() + "; allowed: the two together");
  }
  if (!user.token_file.empty()) {
    const auto text = read_small_file(user.token_file, user.description + ": tokenFile");
    if (!text) return tl::unexpected(text.error());
    token = trimmed(*text);
    if (token.empty()) {
      return fail(ErrorKind::invalid, user.description + ": tokenFile: found " + user.token_file.string() + " empty, allowed: a token");
    }
  }
  if (user.exec) {
    auto answer = run_exec_plugin(connection_, exec_time_limit_, stop);
    if (!answer) return tl::unexpected(answer.error());
    token = answer->token;
    if (!answer->client_certificate_pem.empty()) {
      out.client_certificate_pem = std::move(answer->client_certificate_pem);
      out.client_key_pem = std::move(answer->client_key_pem);
    }
    out.expires = answer->expires;
  }

  if (!token.empty()) {
    out.headers.push_back("Authorization: Bearer " + token);
  } else if (!user.username.empty()) {
    out.headers.push_back("Authorization: Basic " + encode_base64(user.username + ":" + user.password));
  }
  if (!user.impersonate_user.empty()) out.headers.push_back("Impersonate-User: " + user.impersonate_user);
  if (!user.impersonate_uid.empty()) out.headers.push_back("Impersonate-Uid: " + user.impersonate_uid);
  for (const std::string& group : user.impersonate_groups) out.headers.push_back("Impersonate-Group: " + group);
  for (const std::string& header : out.headers) {
    if (is_header_value(header)) continue;
    const std::string name = header.substr(0, header.find(':'));
    return fail(ErrorKind::invalid, user.description + ": header " + name + ": found a control character, allowed: printable text");
  }
  return out;
}

}  // namespace hindsight::connectors::kubernetes
