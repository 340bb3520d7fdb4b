#include "cli/selectors.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "projections/format.hpp"

namespace hindsight::cli {
namespace {

constexpr const char* label_forms =
    "; allowed: KEY=VALUE, KEY!=VALUE, KEY in (A,B), KEY notin (A,B), KEY, !KEY, several of them with commas between";

bool is_label_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.' || c == '/'; }

/// Reads a selector from its left end.
class SelectorText {
 public:
  explicit SelectorText(std::string_view text) : text_(text) {}
  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  bool take(std::string_view what) {
    if (!text_.substr(at_).starts_with(what)) return false;
    at_ += what.size();
    return true;
  }
  /// A key or value; may be empty.
  std::string word() {
    const std::size_t from = at_;
    while (at_ < text_.size() && is_label_character(text_[at_])) ++at_;
    return std::string(text_.substr(from, at_ - from));
  }
  [[nodiscard]] std::string rest() const { return std::string(text_.substr(at_)); }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

/// "(a, b)" behind `in` and `notin`.
bool read_values(SelectorText& in, std::vector<std::string>& out) {
  in.skip_blanks();
  if (!in.take("(")) return false;
  do {
    in.skip_blanks();
    out.push_back(in.word());
    in.skip_blanks();
  } while (in.take(","));
  return in.take(")");
}

struct SelectableField {
  const char* name;
  const char* absent = "";  ///< What counts where the object does not have it.
};

/// Beside metadata.name and, of kinds in namespaces, metadata.namespace.
const std::vector<SelectableField>& fields_of(std::string_view plural) {
  static const std::map<std::string_view, std::vector<SelectableField>> fields{
      {"workloads",
       {{"status.phase"},
        {"spec.queueName"},
        {"spec.active", "true"},
        {"spec.priority", "0"},
        {"spec.priorityClassRef.name"},
        {"status.admission.clusterQueue"}}},
      {"clusterqueues", {{"spec.cohortName"}, {"spec.queueingStrategy"}, {"spec.stopPolicy", "None"}}},
      {"localqueues", {{"spec.clusterQueue"}, {"spec.stopPolicy", "None"}}},
      {"cohorts", {{"spec.parentName"}}},
      {"resourceflavors", {{"spec.topologyName"}}},
      {"nodes", {{"spec.unschedulable", "false"}}},
      {"admissionchecks", {{"spec.controllerName"}}},
      {"gates", {{"kind"}, {"annotation"}}},
      {"quarantined", {{"kind"}, {"stage"}}},
      {"workloadpriorityclasses", {{"value", "0"}}},
      {"events",
       {{"type"}, {"reason"}, {"involvedObject.kind"}, {"involvedObject.name"}, {"involvedObject.namespace"}, {"involvedObject.uid"}}},
  };
  static const std::vector<SelectableField> none;
  const auto it = fields.find(plural);
  return it == fields.end() ? none : it->second;
}

/// The value of "spec.queueName" as a text; nothing: the object does not have it.
std::optional<std::string> value_at(const Json& object, std::string_view path) {
  const Json* at = &object;
  for (std::size_t from = 0;;) {
    const auto dot = path.find('.', from);
    const std::string key(path.substr(from, dot == std::string_view::npos ? dot : dot - from));
    if (!at->is_object()) return std::nullopt;
    const auto it = at->find(key);
    if (it == at->end()) return std::nullopt;
    at = &*it;
    if (dot == std::string_view::npos) break;
    from = dot + 1;
  }
  if (at->is_string()) return at->get<std::string>();
  return at->dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Result<LabelSelector> LabelSelector::parse(const std::string& text) {
  LabelSelector out;
  SelectorText in(text);
  const auto wrong = [&] {
    return fail(ErrorKind::invalid, "--selector: found \"" + text + "\", which cannot be read from \"" + in.rest() + "\" on" + label_forms);
  };
  do {
    in.skip_blanks();
    Requirement r;
    if (in.take("!")) {
      r.wanted = false;
      r.any_value = true;
    }
    in.skip_blanks();
    r.key = in.word();
    if (r.key.empty()) return wrong();
    in.skip_blanks();
    if (!r.any_value) {
      if (in.take("!=")) {
        r.wanted = false;
        in.skip_blanks();
        r.values = {in.word()};
      } else if (in.take("==") || in.take("=")) {
        in.skip_blanks();
        r.values = {in.word()};
      } else if (in.take("notin")) {
        r.wanted = false;
        if (!read_values(in, r.values)) return wrong();
      } else if (in.take("in")) {
        if (!read_values(in, r.values)) return wrong();
      } else {
        r.any_value = true;
      }
    }
    in.skip_blanks();
    out.requirements_.push_back(std::move(r));
  } while (in.take(","));
  if (!in.at_end()) return wrong();
  return out;
}

bool LabelSelector::matches(const Json& object) const {
  return std::all_of(requirements_.begin(), requirements_.end(), [&](const Requirement& r) {
    const auto metadata = object.find("metadata");
    if (metadata == object.end() || !metadata->is_object()) return !r.wanted;
    const auto labels = metadata->find("labels");
    if (labels == metadata->end() || !labels->is_object()) return !r.wanted;
    const auto label = labels->find(r.key);
    if (label == labels->end() || !label->is_string()) return !r.wanted;
    const bool met = r.any_value || std::find(r.values.begin(), r.values.end(), label->get_ref<const std::string&>()) != r.values.end();
    return met == r.wanted;
  });
}

std::vector<std::string> selectable_fields(const KnownKind& kind) {
  std::vector<std::string> out{"metadata.name"};
  if (kind.namespaced) out.emplace_back("metadata.namespace");
  for (const auto& field : fields_of(kind.plural)) out.emplace_back(field.name);
  return out;
}

Result<FieldSelector> FieldSelector::parse(const std::string& text, const KnownKind& kind) {
  FieldSelector out;
  const auto allowed = selectable_fields(kind);
  for (std::size_t from = 0; from <= text.size();) {
    const auto comma = std::min(text.find(',', from), text.size());
    const std::string one = text.substr(from, comma - from);
    from = comma + 1;
    const auto sign = one.find('=');
    if (sign == std::string::npos || sign == 0)
      return fail(ErrorKind::invalid,
                  "--field-selector: found \"" + one + "\"; allowed: FIELD=VALUE, FIELD!=VALUE, several with commas between");
    Requirement r;
    r.equal = one[sign - 1] != '!';
    r.field = one.substr(0, r.equal ? sign : sign - 1);
    r.value = one.substr(sign + (one.compare(sign, 2, "==") == 0 ? 2 : 1));
    if (std::find(allowed.begin(), allowed.end(), r.field) == allowed.end())
      return fail(ErrorKind::invalid, "--field-selector: found field \"" + r.field + "\" of " + std::string(kind.plural) +
                                          "; allowed: " + projections::joined(allowed));
    for (const auto& field : fields_of(kind.plural))
      if (r.field == field.name) r.absent = field.absent;
    out.requirements_.push_back(std::move(r));
  }
  return out;
}

bool FieldSelector::matches(const Json& object, const std::string& phase) const {
  return std::all_of(requirements_.begin(), requirements_.end(), [&](const Requirement& r) {
    const std::string value = r.field == "status.phase" ? phase : value_at(object, r.field).value_or(r.absent);
    return (value == r.value) == r.equal;
  });
}

}  // namespace hindsight::cli
