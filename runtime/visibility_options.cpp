#include "runtime/visibility_options.hpp"

namespace hindsight::runtime {

Result<VisibilityOptions> visibility_options(const VisibilityRunOptions& options, const operations::Configuration& configuration) {
  VisibilityOptions out;
  out.address = configuration.visibility_address;
  if (!options.address.empty()) {
    auto address = operations::parse_listen_address(options.address);
    if (!address) return fail(ErrorKind::invalid, "--visibility-address: " + address.error().message);
    out.address = *address;
  }
  out.tls = configuration.tls;
  out.service = options.service;
  out.secret = options.service + "-cert";
  out.namespace_ = configuration.namespace_;
  out.makes_certificates = configuration.makes_webhook_certificates;
  out.folder = !options.folder.empty() || out.makes_certificates ? options.folder : configuration.webhook_certificates;
  return out;
}

}  // namespace hindsight::runtime
