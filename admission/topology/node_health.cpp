#include "admission/topology/node_health.hpp"

#include <algorithm>

#include "admission/model/node_match.hpp"

namespace hindsight::admission::topology {
namespace {

bool keeps_pods_away(const OwnedTaint& taint) {
  return taint.effect == TaintEffect::no_schedule || taint.effect == TaintEffect::no_execute;
}

enum class Tolerance { none, for_a_while, for_good };

Tolerance tolerance(const OwnedTaint& taint, std::span<const OwnedToleration> tolerations) {
  Tolerance out = Tolerance::none;
  for (const OwnedToleration& t : tolerations) {
    if (!tolerated(taint, {t})) continue;
    if (!t.seconds) return Tolerance::for_good;
    out = Tolerance::for_a_while;
  }
  return out;
}

}  // namespace

bool is_plainly_well(const NodeConfig& node) { return node.ready && std::none_of(node.taints.begin(), node.taints.end(), keeps_pods_away); }

NodeVerdict judge(const NodeConfig* node, std::span<const OwnedToleration> tolerations, bool progressing, const Settings& settings,
                  Time now) {
  if (node == nullptr || node->silent) return {true, {}};
  if (!node->ready) {
    if (settings.replace_when_idle) return {!progressing, {}};
    const Time at = node->not_ready_since + not_ready_max;
    return now >= at ? NodeVerdict{true, {}} : NodeVerdict{false, at};
  }
  if (!settings.replace_tainted) return {};
  for (const OwnedTaint& taint : node->taints) {
    if (!keeps_pods_away(taint)) continue;
    switch (tolerance(taint, tolerations)) {
      case Tolerance::none:
        if (!progressing || !settings.replace_when_idle) return {true, {}};
        break;
      case Tolerance::for_a_while:
        if (!progressing) return {true, {}};
        break;
      case Tolerance::for_good:
        break;
    }
  }
  return {};
}

}  // namespace hindsight::admission::topology
