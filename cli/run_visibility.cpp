#include "cli/run_visibility.hpp"

namespace hindsight::cli {

void add_visibility_options(CLI::App& command, VisibilityRunOptions& options) {
  auto* serve = command.add_flag(
      "--visibility", options.serve,
      "Serve the visibility API (visibility.kueue.x-k8s.io) over TLS to the API server; the cluster needs deploy/visibility.yaml");
  command
      .add_option("--visibility-address", options.address,
                  "Where it listens; else visibilityServer.bindAddress and bindPort of the configuration")
      ->type_name("ADDRESS")
      ->needs(serve);
  command.add_option("--visibility-service", options.service, "The Service by which the API server reaches it, in our own namespace")
      ->type_name("NAME")
      ->capture_default_str()
      ->needs(serve);
  command
      .add_option("--visibility-cert-dir", options.folder,
                  "Keep its certificates in this folder, else in the Secret that is called as the Service with -cert at the end; where "
                  "internalCertManagement is not enabled, tls.crt, tls.key and ca.crt are read from it")
      ->type_name("DIR")
      ->needs(serve);
}

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

}  // namespace hindsight::cli
