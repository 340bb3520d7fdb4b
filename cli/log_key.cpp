#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <system_error>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "events/own_file.hpp"
#include "evidence/keys.hpp"

namespace hindsight::cli {
namespace {

struct KeyOptions {
  std::string file, format;
};

/// A new file, 0600: a key is never written over, for what it has signed would be worth nothing any more.
Result<void> write_new(const std::string& file, const std::string& text) {
  const events::Descriptor descriptor(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!descriptor) {
    const int why = errno;
    if (why == EEXIST) return fail(ErrorKind::conflict, "key " + file + ": it is there already; allowed: a new file");
    const auto kind = why == EACCES ? ErrorKind::denied : why == ENOENT ? ErrorKind::invalid : ErrorKind::io;
    return fail(kind, "key " + file + ": " + std::generic_category().message(why));
  }
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = ::write(descriptor.get(), text.data() + at, text.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int why = errno;
      ::unlink(file.c_str());
      return fail(ErrorKind::io, "key " + file + ": " + std::generic_category().message(why));
    }
    at += static_cast<std::size_t>(n);
  }
  if (::fsync(descriptor.get()) != 0) {
    const int why = errno;
    ::unlink(file.c_str());
    return fail(ErrorKind::io, "key " + file + ": " + std::generic_category().message(why));
  }
  return {};
}

Result<int> make_key(const Session& session, const KeyOptions& o) {
  auto key = evidence::SigningKey::make();
  if (!key) return tl::unexpected(key.error());
  if (auto written = write_new(o.file, key->pem()); !written) return tl::unexpected(written.error());
  if (o.format == "text")
    session.out << key->public_key().pem();
  else
    print_document(session, Json{{"file", o.file}, {"key", key->public_key().id()}, {"publicKey", key->public_key().pem()}}, o.format);
  return exit_ok;
}

}  // namespace

void add_log_key(CLI::App& log, Session& session) {
  const auto o = std::make_shared<KeyOptions>();
  auto* c =
      add_command(log, session, "key", "Make a key that checkpoints of logs are signed with, and print the public one that belongs to it",
                  "  hindsight log key audit.pem > audit.pub.pem\n"
                  "  openssl pkey -in audit.pem -pubout   # prints the public key again",
                  [o, &session] { return make_key(session, *o); });
  c->add_option("FILE", o->file, "Where the Ed25519 key goes, in PEM: a new file, readable to its owner only")->required();
  add_output(*c, o->format, {"text", "json", "yaml"});
}

}  // namespace hindsight::cli
