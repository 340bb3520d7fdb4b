#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "page/server/page_server.hpp"

namespace hindsight::page {

/// What branches bring: their routes, and the logs that they are looked at by.
struct BranchService {
  std::vector<ApiRoute> routes;
  BranchLogs logs;
  std::shared_ptr<void> held;  ///< Who answers them; gone after the server, and before the log.
};

/// Where the indexes of histories are kept for the next process (page/timeline/index_file.hpp).
struct KeptIndexes {
  bool wanted = false;
  std::string folder;             ///< For logs that lie in no file; empty: theirs are not kept.
  bool always_in_folder = false;  ///< Those of files, too.
};

struct PageOptions {
  /// One more reader of the log that is shown. Some logs answer one question after the other, and who draws a picture of the whole history
  /// must not hold up who looks at a moment.
  std::function<Result<std::shared_ptr<const events::Log>>()> open;
  /// Given the log, and where to tell of a branch whose state changed; empty: there are no branches. Where it cannot be had, the page is
  /// there without them, and the process's log says why.
  std::function<Result<BranchService>(std::shared_ptr<const events::Log> log, std::function<void(const std::string& branch_json)> tell)>
      branches;
  bool live = false;  ///< As LogFacts.
  KeptIndexes kept;
  std::size_t objects_bytes_max = std::size_t{25} << 20;  ///< Of the index by object, of each domain.
  PageServerOptions server;  ///< `views` are all there are where it has none; routes are added to those that it has.
};

/// The page of one log with all that belongs to it: index of its history, branches, server.
class Page {
 public:
  /// Errors: those of `open`, and unavailable when the address cannot be had.
  [[nodiscard]] static Result<std::unique_ptr<Page>> start(PageOptions options);
  ~Page();
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

  [[nodiscard]] const operations::ListenAddress& address() const { return server_->address(); }
  void stop();

 private:
  class Timelines;
  Page() = default;

  std::shared_ptr<const events::Log> log_;
  std::shared_ptr<LiveEvents> live_;
  std::shared_ptr<Timelines> timelines_;
  std::shared_ptr<void> branches_;
  std::unique_ptr<PageServer> server_;
};

/// Every view of the page.
[[nodiscard]] std::vector<ViewRoute> all_views();

}  // namespace hindsight::page
