#include "runtime/page_service.hpp"

#include <unistd.h>
#include <chrono>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "connectors/manifests/json_text.hpp"
#include "page/server/branch_routes.hpp"
#include "page/server/quiet_turns.hpp"
#include "runtime/cluster_requests.hpp"
#include "runtime/log_location.hpp"
#include "runtime/release.hpp"
#include "runtime/what_if_objects.hpp"
#include "vocabulary/amount.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::runtime {
namespace {

/// Of a file each reader has a connection of its own; of Kafka they share one, which answers all of them.
std::function<Result<std::shared_ptr<const events::Log>>()> readers_of(const std::string& log, const std::string& log_config) {
  const LogAccess access{.read_only = true, .kafka_config = log_config};
  auto shared = std::make_shared<std::shared_ptr<const events::Log>>();
  return [log, access, shared]() -> Result<std::shared_ptr<const events::Log>> {
    if (*shared) return *shared;
    auto opened = open_log(log, access);
    if (!opened) return tl::unexpected(opened.error());
    std::shared_ptr<const events::Log> out = std::move(*opened);
    if (is_kafka(log)) *shared = out;
    return out;
  };
}

std::string name_of_machine() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string();
}

/// Of this user alone, where the machine has a place for such things; empty: it has none.
std::string folder_of_user(const char* name) {
  namespace fs = std::filesystem;
  for (const auto& [variable, below] : {std::pair("XDG_CACHE_HOME", "hindsight"), std::pair("HOME", ".cache/hindsight")}) {
    const char* folder = std::getenv(variable);
    if (folder != nullptr && *folder != '\0' && ::access(folder, W_OK) == 0) return (fs::path(folder) / below / name).string();
  }
  return {};
}

std::string folder_of_branches() {
  if (auto folder = folder_of_user("branches"); !folder.empty()) return folder;
  std::error_code ignored;
  return (std::filesystem::temp_directory_path(ignored) / ("hindsight-branches-" + std::to_string(::getuid()))).string();
}

/// What --ui-memory says, in bytes, shared out among what the page keeps. Errors: invalid.
Result<std::uint64_t> memory_of(const PageServiceOptions& options) {
  const auto bytes = parse_quantity(options.asked.memory, "memory");
  constexpr Amount least = Amount{32} << 20, most = Amount{1} << 40;
  if (!bytes || *bytes < least || *bytes > most)
    return fail(ErrorKind::invalid, options.memory_option + ": found \"" + printable(options.asked.memory) +
                                        "\"; allowed: a quantity of bytes as 200Mi, from 32Mi to 1Ti");
  return static_cast<std::uint64_t>(*bytes);
}

operations::SelfSignedWish wish_of(const operations::ListenAddress& address, const std::vector<std::string>& host_names) {
  operations::SelfSignedWish out;
  out.names = host_names;
  if (!address.host.empty() && address.host != "0.0.0.0" && address.host != "::") out.names.push_back(address.host);
  if (auto name = name_of_machine(); !name.empty()) out.names.push_back(std::move(name));
  out.names.emplace_back("localhost");
  return out;
}

Time now_of_machine() {
  return {std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count()};
}

}  // namespace

page::Reviews page_reviews(AskServer ask) {
  page::Reviews out;
  out.who = [ask](const std::string& token) -> Result<std::optional<std::string>> {
    const auto user = review_token(ask, token);
    if (!user) return tl::unexpected(user.error());
    if (!*user) return std::optional<std::string>();
    return std::optional<std::string>((*user)->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  };
  out.may_get_workloads = [ask](const std::string& user, const std::string& namespace_) -> Result<bool> {
    const auto read = connectors::manifests::parse_json(user);
    if (!read) return tl::unexpected(read.error());
    nlohmann::json attributes{{"group", "kueue.x-k8s.io"}, {"resource", "workloads"}, {"verb", "get"}};
    if (!namespace_.empty()) attributes["namespace"] = namespace_;
    return review_access(ask, *read, {{"resourceAttributes", std::move(attributes)}});
  };
  return out;
}

Result<operations::ListenAddress> page_address(const PageServiceOptions& options, bool has_cluster) {
  if (const auto memory = memory_of(options); !memory) return tl::unexpected(memory.error());
  const auto address = operations::parse_listen_address(options.asked.address);
  if (!address) return fail(ErrorKind::invalid, options.address_option + ": " + address.error().message);
  if (!has_cluster && !operations::is_loopback(*address))
    return fail(ErrorKind::invalid, options.address_option + ": found " + options.asked.address +
                                        ", which others can reach; allowed: a loopback address, or with --kubeconfig an API server that "
                                        "says who asks and what he may see");
  return address;
}

Result<std::unique_ptr<PageService>> PageService::start(const PageServiceOptions& options,
                                                        connectors::kubernetes::KubernetesCluster* cluster) {
  const auto address = page_address(options, cluster != nullptr);
  if (!address) return tl::unexpected(address.error());
  std::unique_ptr<PageService> out(new PageService());
  page::PageOptions page;
  page.open = readers_of(options.log, options.log_config);
  page.live = options.beside_decisions;
  page.server.address = *address;
  page.server.files = page::embedded_files();
  page.server.host_names = options.asked.host_names;
  page.server.release = page.server.states.release = release;
  page.server.states.states_max = options.asked.states;
  const auto memory = memory_of(options);
  if (!memory) return tl::unexpected(memory.error());
  page.server.states.states_bytes_max = static_cast<std::size_t>(*memory / 2);
  page.server.states.snapshots_bytes_max = static_cast<std::size_t>(*memory / 4);
  page.server.answers_bytes_max = static_cast<std::size_t>(*memory / 16);
  page.objects_bytes_max = static_cast<std::size_t>(*memory / 8);
  page.kept = {.wanted = true,
               .folder = options.asked.cache_folder.empty() ? folder_of_user("indexes") : options.asked.cache_folder,
               .always_in_folder = !options.asked.cache_folder.empty()};
  page.server.states.quiet = options.beside_decisions;
  if (options.beside_decisions) {
    page.server.threads = 3;
    page.server.states.turns = std::make_shared<page::QuietTurns>(page::QuietTurns::all_cores_but_one());
  }
  page.branches = [quiet = options.beside_decisions, turns = page.server.states.turns](std::shared_ptr<const events::Log> log,
                                                                                       std::function<void(const std::string&)> tell) {
    page::BranchesOptions branches;
    branches.folder = folder_of_branches();
    branches.quiet = quiet;
    branches.turns = turns;
    branches.read_manifests = &what_if_objects_of_text;
    return page::branch_service(std::move(log), std::move(branches), std::move(tell));
  };
  const bool open_to_all = operations::is_loopback(*address);
  if (!open_to_all) {
    out->identity_ = std::make_shared<operations::TlsIdentity>(options.tls);
    page.server.tls = out->identity_;
    page.server.visitors = std::make_shared<page::Visitors>(
        page_reviews([cluster](const std::string& path, const std::string& body) { return post_and_wait(*cluster, path, body); }));
  }
  auto started = page::Page::start(std::move(page));
  if (!started) return tl::unexpected(started.error());
  out->page_ = std::move(*started);
  const auto wish = wish_of(*address, options.asked.host_names);
  out->url_host_ = open_to_all ? address->host : wish.names.front();
  if (open_to_all) return out;
  CertificateKeeperOptions keeper;
  keeper.what = "page";
  keeper.registered = "the page has its certificate";
  keeper.wish = wish;
  keeper.store = options.asked.cert_folder.empty() ? memory_store() : folder_store(options.asked.cert_folder);
  keeper.makes_certificates = options.asked.cert_folder.empty();
  keeper.folder = options.asked.cert_folder;
  keeper.now = options.now ? options.now : &now_of_machine;
  keeper.identity = out->identity_;
  keeper.spread = [](const std::string&) { return Result<void>(); };
  out->keeper_ = std::make_unique<CertificateKeeper>(std::move(keeper));
  return out;
}

PageService::~PageService() { stop(); }

void PageService::stop() {
  if (keeper_) keeper_->stop();
  if (page_) page_->stop();
}

std::string PageService::url() const {
  operations::ListenAddress at = page_->address();
  at.host = url_host_;
  return std::string(identity_ ? "https://" : "http://") + operations::to_string(at) + "/";
}

}  // namespace hindsight::runtime
