#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hindsight::runtime {

/// What `hindsight ui`, and `hindsight run --ui` and its companions, ask for.
struct PageRunOptions {
  std::string address;                  ///< Empty: no page.
  std::string cert_folder;              ///< Has tls.crt and tls.key, read again and again; empty: a certificate is made.
  std::vector<std::string> host_names;  ///< By which browsers call it.
  std::size_t states = 4;
  std::string memory = "200Mi";  ///< Of what it keeps in memory beside one state, about.
  std::string cache_folder;      ///< For the indexes of histories; empty: beside the log, and of other logs where this machine has a place.
};

}  // namespace hindsight::runtime
