#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "operations/http_server.hpp"
#include "page/server/api_route.hpp"
#include "page/server/live_events.hpp"
#include "page/server/past_states.hpp"
#include "page/server/static_files.hpp"
#include "page/server/visitors.hpp"

namespace hindsight::page {

/// A log by the name of a branch. Errors: not_found, conflict (it has no log yet); each names the branch.
using BranchLogs = std::function<Result<std::shared_ptr<const events::Log>>(const std::string& id)>;

struct PageServerOptions {
  operations::ListenAddress address;                   ///< The loopback address unless there are visitors to tell apart.
  std::shared_ptr<const operations::TlsIdentity> tls;  ///< Null: plain text.
  std::shared_ptr<Visitors> visitors;                  ///< Null: whoever gets here sees all.
  /// Names by which browsers may call the server beside those of the loopback address: a page of somebody else's whose name leads here is
  /// not answered (DNS rebinding). With `visitors` and without names all are good: who asks shows who he is.
  std::vector<std::string> host_names;
  PastStatesOptions states;
  std::string release;
  std::span<const EmbeddedFile> files;
  std::vector<ViewRoute> views;
  std::vector<ApiRoute> routes;
  BranchLogs branch_logs;  ///< Empty: there are no branches.
  /// Where records about an object may be in a log and domain; empty, or null: nobody has read it.
  std::function<std::shared_ptr<const timeline::ObjectIndex>(const events::Log& log, const std::string& domain)> objects_of;

  unsigned threads = 6;
  std::chrono::milliseconds answer_time{20'000};  ///< Then a view is told that it is over.
  std::size_t answer_bytes_max = std::size_t{48} * 1024 * 1024;
  std::size_t answers_bytes_max = std::size_t{16} * 1024 * 1024;  ///< Of answers that are kept in case somebody asks again.
  std::size_t streams_max = 64, streams_per_peer_max = 32;
};

/// The page over HTTP: its files, its API below /api/v1, and the stream of what happens. Reads the log with states of its own and asks
/// nobody who decides. One caller cannot take more than a share of its threads, states, memory and connections
/// (operations/http_server.hpp).
class PageServer {
 public:
  /// Listens, and answers from then on. `live` may be told by others, too. Errors: unavailable, when the address cannot be had.
  [[nodiscard]] static Result<std::unique_ptr<PageServer>> start(std::shared_ptr<const events::Log> log, std::shared_ptr<LiveEvents> live,
                                                                 PageServerOptions options);
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  [[nodiscard]] const operations::ListenAddress& address() const;
  /// Who looks is told that it is over.
  void stop();
  [[nodiscard]] PastStatesStatistics states() const;
  [[nodiscard]] operations::HttpServerStatistics http() const;

 private:
  class Implementation;
  explicit PageServer(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace hindsight::page
