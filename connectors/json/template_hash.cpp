#include "connectors/json/template_hash.hpp"

#include <bit>
#include <cstring>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "connectors/json/node.hpp"
#include "vocabulary/amount.hpp"

namespace hindsight::connectors {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;
using simdjson::dom::object;

static_assert(std::endian::native == std::endian::little, "hashes go into the log and must not depend on the machine");

// ---- mixing -----------------------------------------------------------------------------------------------------------------

constexpr std::uint64_t seed_a = 0xA0761D6478BD642FULL;
constexpr std::uint64_t seed_b = 0xE7037ED1A0B428DBULL;

constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a ^ seed_a) * (b ^ seed_b);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

constexpr std::uint64_t load(const char* p, std::size_t n) {
  std::uint64_t v = 0;
  if (std::is_constant_evaluated()) {
    for (std::size_t i = 0; i < n; ++i) v |= static_cast<std::uint64_t>(static_cast<unsigned char>(p[i])) << (8 * i);
  } else if (n > 0) {
    std::memcpy(&v, p, n);
  }
  return v;
}

constexpr std::uint64_t hash_of(std::string_view text) {
  std::uint64_t h = text.size();
  const char* p = text.data();
  std::size_t n = text.size();
  for (; n > 8; p += 8, n -= 8) h = mix(h, load(p, 8));
  return mix(h, load(p, n));
}

/// A hash of nothing: absent, null, empty, or a default.
constexpr std::uint64_t nothing = 0;

constexpr std::uint64_t something(std::uint64_t h) { return h == nothing ? 1 : h; }

enum Tag : std::uint64_t { text_tag = 1, integer_tag, double_tag, true_tag, false_tag, list_tag, object_tag, amount_tag, nothing_tag };

// ---- values -----------------------------------------------------------------------------------------------------------------

std::uint64_t hash_value(std::uint64_t key, element value);

/// What kind of member a key names; decided by the hash of the key, which is needed anyway.
enum class Meaning { plain, text_map, amounts, amount, env, image_pull_policy };

Meaning meaning_of(std::uint64_t key) {
  switch (key) {
    case hash_of("labels"):
    case hash_of("annotations"):
    case hash_of("nodeSelector"):
    case hash_of("matchLabels"):
    case hash_of("volumeAttributes"):
    case hash_of("options"):
      return Meaning::text_map;
    case hash_of("requests"):
    case hash_of("limits"):
    case hash_of("overhead"):
      return Meaning::amounts;
    case hash_of("sizeLimit"):
    case hash_of("storage"):
      return Meaning::amount;
    case hash_of("env"):
      return Meaning::env;
    case hash_of("imagePullPolicy"):
      return Meaning::image_pull_policy;
    default:
      return Meaning::plain;
  }
}

/// Defaults of the API server that stand inside containers and volumes, wherever they occur.
bool is_default_text(std::uint64_t key, std::string_view value) {
  switch (key) {
    case hash_of("terminationMessagePath"):
      return value == "/dev/termination-log";
    case hash_of("terminationMessagePolicy"):
      return value == "File";
    case hash_of("protocol"):
      return value == "TCP";
    case hash_of("scheme"):
      return value == "HTTP";
    case hash_of("path"):
      return value == "/";
    case hash_of("apiVersion"):
      return value == "v1";
    case hash_of("divisor"):
      return value == "0";
    case hash_of("iscsiInterface"):
      return value == "default";
    default:
      return false;
  }
}

bool is_default_integer(std::uint64_t key, std::int64_t value) {
  switch (key) {
    case hash_of("timeoutSeconds"):
    case hash_of("successThreshold"):
      return value == 1;
    case hash_of("periodSeconds"):
      return value == 10;
    case hash_of("failureThreshold"):
      return value == 3;
    case hash_of("defaultMode"):
      return value == 420;
    case hash_of("expirationSeconds"):
      return value == 3600;
    default:
      return false;
  }
}

/// Fields that the Go types leave out when false; a pointer to false (runAsNonRoot) keeps its meaning.
bool is_false_by_default(std::uint64_t key) {
  switch (key) {
    case hash_of("hostNetwork"):
    case hash_of("hostPID"):
    case hash_of("hostIPC"):
    case hash_of("stdin"):
    case hash_of("stdinOnce"):
    case hash_of("tty"):
    case hash_of("readOnly"):
      return true;
    default:
      return false;
  }
}

std::uint64_t hash_amount(std::string_view resource, element value) {
  std::string buffer;
  const auto text = quantity_text(value, buffer);
  if (const auto amount = parse_quantity(text, resource)) return something(mix(amount_tag, static_cast<std::uint64_t>(*amount)));
  return hash_value(nothing, value);
}

/// A sum over members does not depend on their order; each term is mixed well enough to stand alone.
class Members {
 public:
  void add(std::uint64_t key, std::uint64_t value) {
    if (value == nothing) return;
    sum_ += mix(key, value);
    ++count_;
  }
  [[nodiscard]] std::uint64_t value() const { return count_ == 0 ? nothing : something(mix(mix(object_tag, count_), sum_)); }

 private:
  std::uint64_t sum_ = 0;
  std::uint64_t count_ = 0;
};

template <class F>
std::uint64_t hash_map(element value, F hash_entry) {
  object members;
  if (value.get(members) != simdjson::SUCCESS) return hash_value(nothing, value);
  Members out;
  for (const auto member : members) out.add(hash_of(member.key), hash_entry(member.key, member.value));
  return out.value();
}

std::uint64_t hash_text_map(element value) {
  return hash_map(value, [](std::string_view key, element v) -> std::uint64_t {
    if (is_job_controller_label(key)) return nothing;
    std::string_view text;
    if (!v.is_null() && v.get(text) != simdjson::SUCCESS) return hash_value(nothing, v);
    return something(mix(text_tag, hash_of(text)));
  });
}

std::uint64_t hash_amounts(element value) { return hash_map(value, hash_amount); }

std::string_view text_member(element value, std::string_view key) {
  object members;
  std::string_view text;
  if (value.get(members) == simdjson::SUCCESS && members.at_key(key).get(text) == simdjson::SUCCESS) return text;
  return {};
}

/// Of variables with the same name only the last counts, at the place of the first (base-api §3).
std::uint64_t hash_env(element value) {
  constexpr std::size_t few = 16;  // Up to here a scan is faster than a map.
  simdjson::dom::array list;
  if (value.get(list) != simdjson::SUCCESS) return hash_value(nothing, value);
  std::vector<std::pair<std::string_view, element>> kept;
  std::unordered_map<std::string_view, std::size_t> places;
  for (const auto item : list) {
    const auto name = text_member(item, "name");
    std::size_t place = kept.size();
    if (kept.size() < few) {
      for (std::size_t i = 0; i < kept.size(); ++i)
        if (kept[i].first == name) place = i;
    } else {
      if (places.empty())
        for (std::size_t i = 0; i < kept.size(); ++i) places.emplace(kept[i].first, i);
      place = places.emplace(name, kept.size()).first->second;
    }
    if (place == kept.size()) {
      kept.emplace_back(name, item);
    } else {
      kept[place].second = item;
    }
  }
  std::uint64_t h = list_tag;
  for (const auto& [name, item] : kept) h = mix(h, hash_value(nothing, item) + nothing_tag);
  return kept.empty() ? nothing : something(mix(h, kept.size()));
}

/// The pull policy that the API server writes for an image: Always for the tag latest or none, IfNotPresent otherwise.
std::string_view default_pull_policy(std::string_view image) {
  if (image.find('@') != std::string_view::npos) return "IfNotPresent";
  const auto slash = image.rfind('/');
  const auto name = slash == std::string_view::npos ? image : image.substr(slash + 1);
  const auto colon = name.rfind(':');
  return colon == std::string_view::npos || name.substr(colon + 1) == "latest" ? "Always" : "IfNotPresent";
}

std::uint64_t hash_member(object parent, std::uint64_t key, element value) {
  switch (meaning_of(key)) {
    case Meaning::text_map:
      return hash_text_map(value);
    case Meaning::amounts:
      return hash_amounts(value);
    case Meaning::amount:
      return hash_amount("memory", value);
    case Meaning::env:
      return hash_env(value);
    case Meaning::image_pull_policy: {
      std::string_view policy;
      std::string_view image;
      if (value.get(policy) == simdjson::SUCCESS && parent.at_key("image").get(image) == simdjson::SUCCESS &&
          policy == default_pull_policy(image)) {
        return nothing;
      }
      break;
    }
    case Meaning::plain:
      break;
  }
  return hash_value(key, value);
}

std::uint64_t hash_value(std::uint64_t key, element value) {
  switch (value.type()) {
    case element_type::STRING: {
      const std::string_view text(value);
      if (text.empty() || is_default_text(key, text)) return nothing;
      return something(mix(text_tag, hash_of(text)));
    }
    case element_type::INT64: {
      const std::int64_t number(value);
      if (is_default_integer(key, number)) return nothing;
      return something(mix(integer_tag, static_cast<std::uint64_t>(number)));
    }
    case element_type::UINT64:
      return something(mix(integer_tag, std::uint64_t(value)));
    case element_type::DOUBLE:
      return something(mix(double_tag, std::bit_cast<std::uint64_t>(double(value))));
    case element_type::BOOL:
      if (bool(value)) return mix(true_tag, true_tag);
      return is_false_by_default(key) ? nothing : mix(false_tag, false_tag);
    case element_type::NULL_VALUE:
      return nothing;
    case element_type::ARRAY: {
      std::uint64_t h = list_tag;
      std::uint64_t count = 0;
      for (const auto item : simdjson::dom::array(value)) {
        // An empty element keeps its place: args: ["", "x"].
        h = mix(h, hash_value(nothing, item) + nothing_tag);
        ++count;
      }
      return count == 0 ? nothing : something(mix(h, count));
    }
    case element_type::OBJECT: {
      const object members(value);
      Members out;
      for (const auto member : members) {
        const auto name = hash_of(member.key);
        out.add(name, hash_member(members, name, member.value));
      }
      return out.value();
    }
  }
  return nothing;
}

// ---- the template -----------------------------------------------------------------------------------------------------------

/// Requests and ports of each container (§3.6).
std::uint64_t container_shapes(element containers) {
  simdjson::dom::array list;
  if (containers.get(list) != simdjson::SUCCESS) return nothing;
  std::uint64_t h = list_tag;
  std::uint64_t count = 0;
  for (const auto container : list) {
    Members out;
    object members;
    if (container.get(members) == simdjson::SUCCESS) {
      element ports;
      if (members.at_key("ports").get(ports) == simdjson::SUCCESS) out.add(hash_of("ports"), hash_value(nothing, ports));
      element resources;
      object parts;
      element requests;
      if (members.at_key("resources").get(resources) == simdjson::SUCCESS && resources.get(parts) == simdjson::SUCCESS &&
          parts.at_key("requests").get(requests) == simdjson::SUCCESS) {
        out.add(hash_of("requests"), hash_amounts(requests));
      }
    }
    h = mix(h, out.value() + nothing_tag);
    ++count;
  }
  return count == 0 ? nothing : something(mix(h, count));
}

/// Pod-level defaults (those inside containers and volumes are in is_default_text and is_default_integer).
bool is_pod_default(std::uint64_t key, element value, object spec) {
  std::string_view text;
  std::int64_t number = 0;
  bool flag = false;
  switch (key) {
    case hash_of("restartPolicy"):
      return value.get(text) == simdjson::SUCCESS && text == "Always";
    case hash_of("dnsPolicy"):
      return value.get(text) == simdjson::SUCCESS && text == "ClusterFirst";
    case hash_of("schedulerName"):
      return value.get(text) == simdjson::SUCCESS && text == "default-scheduler";
    case hash_of("terminationGracePeriodSeconds"):
      return value.get(number) == simdjson::SUCCESS && number == 30;
    case hash_of("enableServiceLinks"):
      return value.get(flag) == simdjson::SUCCESS && flag;
    case hash_of("serviceAccount"): {
      // The deprecated alias, which the server keeps equal to the field.
      std::string_view name;
      return value.get(text) == simdjson::SUCCESS && spec.at_key("serviceAccountName").get(name) == simdjson::SUCCESS && text == name;
    }
    default:
      return false;
  }
}

struct PodHashes {
  Members whole, core, shape;

  void add(object spec, std::uint64_t key, element value) {
    if (is_pod_default(key, value, spec)) return;
    const auto h = hash_member(spec, key, value);
    whole.add(key, h);
    switch (key) {
      case hash_of("nodeSelector"):
      case hash_of("tolerations"):
        shape.add(key, h);
        return;  // not in core
      case hash_of("schedulingGates"):
        return;
      case hash_of("containers"):
      case hash_of("initContainers"):
        shape.add(key, container_shapes(value));
        break;
      case hash_of("affinity"):
      case hash_of("runtimeClassName"):
      case hash_of("priority"):
      case hash_of("topologySpreadConstraints"):
      case hash_of("overhead"):
      case hash_of("resourceClaims"):
      case hash_of("resources"):
        shape.add(key, h);
        break;
      default:
        break;
    }
    core.add(key, h);
  }
};

}  // namespace

bool is_job_controller_label(std::string_view key) {
  return key == "batch.kubernetes.io/controller-uid" || key == "batch.kubernetes.io/job-name" || key == "controller-uid" ||
         key == "job-name";
}

TemplateHashes hash_template(element pod_template) {
  PodHashes pod;
  Members whole;
  object members;
  if (pod_template.get(members) != simdjson::SUCCESS) return {};
  for (const auto member : members) {
    object inner;
    if (member.value.get(inner) != simdjson::SUCCESS) continue;
    if (member.key == "metadata") {
      for (const auto field : inner) {
        const bool labels = field.key == "labels";
        if (labels || field.key == "annotations") whole.add(hash_of(field.key), hash_text_map(field.value));
      }
    } else if (member.key == "spec") {
      for (const auto field : inner) pod.add(inner, hash_of(field.key), field.value);
    }
  }
  whole.add(hash_of("spec"), something(pod.whole.value()));
  return {something(whole.value()), something(pod.core.value()), something(pod.shape.value())};
}

}  // namespace hindsight::connectors
