#include "page/timeline/object_tokens.hpp"

#include <variant>

#include "vocabulary/state_hash.hpp"

namespace hindsight::page::timeline {
namespace {

enum class TokenKind : std::uint8_t { name = 1, uid = 2, local_queues = 3, grant = 4 };

Token token_of(TokenKind kind, std::string_view first, std::string_view second = {}) {
  StateHash hash;
  hash.add(kind);
  hash.add(first);
  hash.add(second);
  return hash.value();
}

/// What observations and events name their parts.
class TokenGiver {
 public:
  explicit TokenGiver(const std::function<void(Token)>& see) : see_(see) {}

  template <class T>
  void parts(const T& e) {
    std::string_view home;  // of what is named without a namespace
    if constexpr (requires { e.meta; }) home = e.meta.namespace_;
    if constexpr (requires { e.job; }) home = e.job.namespace_;
    if constexpr (requires { e.workload; }) home = e.workload.namespace_;
    if constexpr (requires { e.meta; }) ref(e.meta);
    if constexpr (requires { e.workload; }) ref(e.workload);
    if constexpr (requires { e.job; }) ref(e.job);
    if constexpr (requires { e.preemptor; }) ref(e.preemptor);
    if constexpr (requires { e.parent.uid; })
      ref(e.parent);
    else if constexpr (requires { e.parent; })
      name({}, e.parent);
    if constexpr (requires { e.replacement; }) ref(e.replacement);
    if constexpr (requires { e.replaces; }) ref(e.replaces);
    if constexpr (requires { e.from.uid; }) ref(e.from);
    if constexpr (requires { e.option.uid; }) ref(e.option);
    if constexpr (requires { e.owner_uid; }) uid(e.owner_uid);
    if constexpr (requires { e.owner_name; }) name(home, e.owner_name);
    if constexpr (requires { e.workload_name; }) name(home, e.workload_name);
    if constexpr (requires { e.prebuilt_workload; }) name(home, e.prebuilt_workload);
    if constexpr (requires { e.queue_name; }) name(home, e.queue_name);
    if constexpr (requires { e.cluster_queue; }) name({}, e.cluster_queue);
    if constexpr (requires { e.preemptor_cluster_queue; }) name({}, e.preemptor_cluster_queue);
    if constexpr (requires { e.root; }) name({}, e.root);
    if constexpr (requires { e.node; }) name({}, e.node);
    if constexpr (requires { e.uid; }) uid(e.uid);
    if constexpr (
        requires { e.namespace_; } && requires { e.name; })
      name(e.namespace_, e.name);
    else if constexpr (requires { e.name; })
      name(home, e.name);
  }

 private:
  template <class Ref>
  void ref(const Ref& r) {
    uid(r.uid);
    name(r.namespace_, r.name);
  }
  void name(std::string_view namespace_, std::string_view name) {
    if (!name.empty()) see_(name_token(namespace_, name));
  }
  void uid(std::string_view uid) {
    if (!uid.empty()) see_(uid_token(uid));
  }

  const std::function<void(Token)>& see_;
};

}  // namespace

Token name_token(std::string_view namespace_, std::string_view name) { return token_of(TokenKind::name, namespace_, name); }
Token uid_token(std::string_view uid) { return token_of(TokenKind::uid, uid); }
Token local_queues_token(std::string_view namespace_) { return token_of(TokenKind::local_queues, namespace_); }
Token grant_token(std::string_view cluster_queue) { return token_of(TokenKind::grant, cluster_queue); }

void each_object_token(const RecordView& record, const std::function<void(Token)>& see) {
  TokenGiver giver(see);
  if (const auto* o = std::get_if<Observation>(&record.body)) return std::visit([&](const auto& x) { giver.parts(x); }, *o);
  const auto* decisions = std::get_if<Decisions>(&record.body);
  if (decisions == nullptr) return;
  for (const Event& event : decisions->events) std::visit([&](const auto& x) { giver.parts(x); }, event);
}

}  // namespace hindsight::page::timeline
