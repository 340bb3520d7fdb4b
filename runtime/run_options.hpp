#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/listeners.hpp"
#include "runtime/page_run_options.hpp"
#include "runtime/visibility_options.hpp"

namespace hindsight::runtime {

/// What `hindsight run` is asked for; `cli/run_options.cpp` says what each means.
struct RunOptions {
  std::vector<std::string> quickstart;
  bool keep = false, in_cluster = false, no_lease = false;
  std::string kubeconfig, context, log, log_config, log_limit, snapshot_folder, keep_history, checkpoint_key,
      durability = "fsync", http = "127.0.0.1:0", log_level = "info", lease_namespace, config, feature_gates;
  std::size_t max_in_flight = 64;
  unsigned connect_timeout = 60;
  std::string role = "all", domain = "default", domains = "one", group, member;
  unsigned session_timeout = 6;
  bool standby = false;
  bool observe = false, switch_mode = false;
  bool webhooks = false;
  std::string webhook_address, webhook_url, webhook_cert_dir, webhook_cert_lifetime = "8760h", webhook_client_ca;
  std::vector<std::string> webhook_client_names;
  ListenerRunOptions listeners;
  VisibilityRunOptions visibility;
  PageRunOptions page;
};

}  // namespace hindsight::runtime
