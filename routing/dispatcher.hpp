#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "admission/model/intents.hpp"
#include "events/record.hpp"
#include "routing/node_audiences.hpp"
#include "routing/router.hpp"
#include "vocabulary/write_limit_news.hpp"

namespace hindsight::routing {

/// Tells each domain of a cluster what concerns it, and carries objects from one to another when the trees change.
///
/// A move has three parts. Every domain that takes part is told that what follows belongs together (MirrorSynced, pending), so it decides
/// nothing in between. Then the old ones are told who has departed: first whoever holds quota, then the queues; that frees the quota there
/// and writes nothing to the API. Only then the new ones are told what has arrived, as it was observed last: with an admission in its
/// status a Workload is charged there. So at no moment two domains count the same Workload, and since a queue brings its quota along with
/// all that it has given away, no tree ever sees quota that somebody still uses. What the old domain decided and nobody carried out yet is
/// lost, and the new one decides it again. What is being carried out at that moment, an admission, a start, is not lost: the domains go on
/// deciding only when it has been answered and observed.
///
/// Nodes go to the trees that select them (node_audiences.hpp). When a tree comes to select others, it is told of all of these in one step.
///
/// Keeps the newest observation of each object, and what was set aside. One thread.
class Dispatcher {
 public:
  using Send = std::function<void(Symbol domain, const Observation&)>;

  /// `departing`: of something that departed a write is under way, which no domain knows of; `settled` is called when none is any more.
  Dispatcher(
      std::string cluster, Send send, std::function<bool()> departing = [] { return false; })
      : router_(std::move(cluster)), send_(std::move(send)), departing_(std::move(departing)) {}

  /// Before `list`: a domain of this cluster that is in the log from earlier days.
  void know(Symbol domain) { domains_.insert(domain); }
  /// Tells it at once, or remembers it until `list`. MirrorSynced is not for here. A limit on writes (WriteLimitObserved) is shared among
  /// the domains in which something has happened since the last one was.
  void observe(const Observation& o);
  /// All lists are complete: tells every domain all that concerns it. They decide after `complete`.
  void list();
  /// `held`: what the domain's state knows (held_objects). What of that belongs elsewhere, or was deleted while nobody watched, has its end
  /// told, and the domain may decide.
  void complete(Symbol domain, std::span<const ObjectKey> held);

  /// No write is under way any more of what departed: whoever waited for that may decide.
  void settled();

  /// Those that were known, and all that something belongs to or ever did.
  [[nodiscard]] const std::set<Symbol, ByText>& domains() const { return domains_; }
  [[nodiscard]] const Router& router() const { return router_; }
  /// May this domain say so? Of what moved away it may have said something before it knew.
  [[nodiscard]] bool may_want(Symbol domain, const admission::Intent& intent) const;

 private:
  /// Of an object that is set aside.
  struct SetAside {
    std::vector<std::byte> bytes;
    Symbol told;  ///< To which domain.
  };

  void remember(const Observation& o);
  void tell_quarantine(Symbol domain, const ObjectKey& object);
  void lift_elsewhere(const SetAside& was, const Route& route);
  void tell(Symbol domain, const ObjectKey& object);
  /// A node that a domain hears of.
  using Arrivals = std::map<Symbol, std::vector<ObjectKey>, ByText>;
  bool observe_node(const Observation& o);
  void hear_of(const NodeObserved& node, const ObjectKey& key, Arrivals& arrivals);
  [[nodiscard]] Arrivals arriving_nodes();
  void tell_node(Symbol domain, const ObjectKey& node);
  void begin(Symbol domain);
  void end(Symbol domain);
  void share(const WriteLimitObserved& limit);

  Router router_;
  Send send_;
  std::function<bool()> departing_;
  std::map<ObjectKey, std::vector<std::byte>> newest_;
  NodeAudiences audiences_;
  std::uint64_t selections_ = 0;  ///< Of the trees, which `audiences_` follows.
  std::map<ObjectKey, SetAside> set_aside_;
  std::optional<SetAside> lifted_;  ///< By the observation that is being told.
  std::set<Symbol, ByText> domains_;
  std::set<Symbol, ByText> busy_;  ///< Those that were told something of their own since a limit on writes was shared.
  std::map<Symbol, WriteLimitNews, ByText> write_limits_;
  std::set<Symbol, ByText> unsettled_;   ///< Those that were told all that belongs together, and wait for `settled`.
  std::set<Symbol, ByText> incomplete_;  ///< Those that were told all since `list`, and have not been completed.
};

}  // namespace hindsight::routing
