#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "projections/families.hpp"
#include "projections/format.hpp"
#include "projections/table.hpp"
#include "projections/why.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::projections {
namespace {

using Verdict = FlavorTrial::Verdict;

constexpr std::size_t ahead_max = 10;

/// Texts of objects stand in it.
void add_line(const std::string& line, std::string& out) { out.append(printable(line)).append("\n"); }

void add_indented(std::string_view lines, std::string& out) {
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    out.append("  ").append(lines.substr(0, end)).append("\n");
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
  }
}

std::string verdict_text(const FlavorTrial& t) {
  switch (t.verdict) {
    case Verdict::fits:
      return "fits";
    case Verdict::fits_borrowing:
      return "fits by borrowing";
    case Verdict::short_now:
      return amount_text(t.missing, t.resource) + " short: " + t.blocked_by;
    case Verdict::exceeds_maximum:
      return "more than can ever be had: " + t.blocked_by;
    case Verdict::no_match:
      return "no match: " + t.mismatch;
  }
  return {};
}

const char* verdict_name(Verdict v) {
  switch (v) {
    case Verdict::fits:
      return "fits";
    case Verdict::fits_borrowing:
      return "fitsBorrowing";
    case Verdict::short_now:
      return "short";
    case Verdict::exceeds_maximum:
      return "exceedsMaximum";
    case Verdict::no_match:
      return "noMatch";
  }
  return "";
}

const char* kind_name(Remedy::Kind k) {
  switch (k) {
    case Remedy::Kind::fits_now:
      return "fitsNow";
    case Remedy::Kind::free:
      return "free";
    case Remedy::Kind::raise_nominal:
      return "raiseNominalQuota";
    case Remedy::Kind::raise_borrowing_limit:
      return "raiseBorrowingLimit";
    case Remedy::Kind::raise_cohort:
      return "raiseCohortNominalQuota";
    case Remedy::Kind::free_places:
      return "freePlaces";
    case Remedy::Kind::fewer_pods:
      return "fewerPods";
    case Remedy::Kind::looser_level:
      return "looserLevel";
    case Remedy::Kind::more_nodes:
      return "moreNodes";
    case Remedy::Kind::resume:
      return "resume";
    case Remedy::Kind::leave:
      return "leave";
    case Remedy::Kind::change_policy:
      return "changePreemptionPolicy";
    case Remedy::Kind::change_strategy:
      return "changeQueueingStrategy";
    case Remedy::Kind::min_count:
      return "minCount";
    case Remedy::Kind::priority:
      return "priority";
  }
  return "";
}

std::string name_of(const admission::ClusterQueue::Waiting& w) { return full_name(w.workload->namespace_.text(), w.workload->name); }

void write_place(const QueuePlace& p, std::string& all) {
  std::string out = "Queue: position " + std::to_string(p.position) + " of " + std::to_string(p.waiting) + " in ClusterQueue " +
                    std::string(p.queue.text());
  if (p.ahead.empty()) return add_line(out + ", nobody ahead", all);
  out += "; ahead of it: ";
  std::vector<std::string> names;
  for (const auto& a : p.ahead) {
    if (names.size() == ahead_max) {
      names.push_back("and " + std::to_string(p.ahead.size() - ahead_max) + " more");
      break;
    }
    names.push_back(name_of(a) + " (priority " + std::to_string(a.workload->priority) + (a.parked ? ", parked)" : ")"));
  }
  add_line(out + joined(names), all);
}

void write_trials(const std::vector<FlavorTrial>& trials, std::string& out) {
  Table t;
  t.columns = {{"POD SET"},
               {"FLAVOR"},
               {"RESOURCE"},
               {"ASKED", false, true},
               {"NOMINAL", false, true},
               {"USED", false, true},
               {"BORROWED", false, true},
               {"AVAILABLE", false, true},
               {"MAXIMUM", false, true},
               {"VERDICT"}};
  for (const auto& x : trials) {
    const auto amount = [&](Amount a) { return amount_text(a, x.resource); };
    const std::string asked = amount(x.requested) + (x.earlier == 0 ? "" : " after " + amount(x.earlier));
    t.rows.push_back({x.pod_set, std::string(x.flavor.text()), std::string(x.resource.text()), asked, amount(x.quota.nominal),
                      amount(x.quota.figures.usage), amount(x.quota.figures.borrowed),
                      amount(std::max<Amount>(0, x.quota.figures.available)), amount(x.quota.figures.potential), verdict_text(x)});
  }
  out += "Quota, in the order in which flavors are tried:\n" + render(t, {.indent = "  "});
}

void write_places(const std::vector<PlaceTrial>& places, std::string& out) {
  out += "Places, for each pod set by itself:\n";
  for (const auto& p : places) {
    std::string line =
        "  " + p.pod_set + ", flavor " + std::string(p.flavor.text()) + ", topology " + std::string(p.topology.text()) + ": ";
    if (!p.beside.empty()) line += "there is room for it by itself, but not beside " + joined(p.beside) + "; then ";
    if (p.fits) {
      add_line(line + "there is room for " + counted(static_cast<std::size_t>(p.count), "pod"), out);
      continue;
    }
    line += p.nearest.empty() ? p.message
                              : "nearest is " + p.nearest + ", with room for " + std::to_string(p.fit) + " of " + std::to_string(p.count);
    if (!p.nearest.empty() && !p.leader.empty() && p.fit >= p.count) line += ", but not for the pod of " + p.leader + " as well";
    add_line(line + (p.fits_empty ? "; it would fit if nobody else stood there" : "; it would not fit if it were empty either"), out);
    const auto write = [&](const std::vector<PlaceTrial::Exclusion>& exclusions, const std::string& whom) {
      for (const auto& e : exclusions)
        add_line("    " + std::to_string(e.nodes) + (e.nodes == 1 ? " node has" : " nodes have") + " no room for " + whom + ": " +
                     e.reason + " (" + example_words(e) + ")",
                 out);
    };
    write(p.exclusions, "one");
    write(p.leader_exclusions, "the pod of " + p.leader);
    for (const auto& group : p.left_out) add_line("    " + words_of(group), out);
  }
}

Json place_trial_json(const PlaceTrial& p) {
  Json out{{"podSet", p.pod_set}, {"flavor", p.flavor.text()}, {"topology", p.topology.text()}, {"fits", p.fits}, {"count", p.count}};
  if (p.fits) return out;
  out["fitsEmpty"] = p.fits_empty;
  out["message"] = p.message;
  if (!p.beside.empty()) out["beside"] = p.beside;
  if (!p.nearest.empty()) out["nearest"] = {{"domain", p.nearest}, {"fit", p.fit}};
  out["excluded"] = to_json(p.exclusions);
  if (!p.leader_exclusions.empty()) out["excludedForLeader"] = to_json(p.leader_exclusions);
  if (!p.left_out.empty()) out["leftOut"] = to_json(p.left_out);
  return out;
}

void write_users(const std::vector<PairUsers>& users, std::string& out) {
  out += "Who uses it:\n";
  for (const auto& u : users) {
    const auto list = [&](const std::vector<Holder>& holders, std::size_t left_out, bool with_queue) {
      std::vector<std::string> parts;
      for (const auto& h : holders) {
        parts.push_back(full_name(h.namespace_, h.name) + " " + amount_text(h.amount, u.resource) + " (" +
                        (with_queue ? std::string(h.queue.text()) + ", " : "") + "priority " + std::to_string(h.priority) +
                        (h.kept      ? ", kept for its migration)"
                         : h.evicted ? ", evicted)"
                                     : ")"));
      }
      return joined(parts) + (left_out == 0 ? std::string() : " and " + std::to_string(left_out) + " more with no more than that");
    };
    const std::string pair = "  " + std::string(u.flavor.text()) + "/" + std::string(u.resource.text());
    if (!u.own.empty())
      add_line(pair + ", " + amount_text(u.own_total, u.resource) + " in its ClusterQueue: " + list(u.own, u.own_left_out, false), out);
    if (!u.others.empty())
      add_line(pair + ", " + amount_text(subtract(u.tree_total, u.own_total), u.resource) +
                   " elsewhere in the cohort: " + list(u.others, u.others_left_out, true),
               out);
  }
}

/// What else would come of it.
std::string played_text(const Consequences& p) {
  std::string out;
  if (!p.before.empty()) out += ", after " + first_names(p.before);
  if (!p.after.empty()) out += "; " + first_names(p.after) + " would be given quota too";
  if (!p.evicted.empty()) out += "; " + first_names(p.evicted) + " would be evicted";
  return out;
}

void write_remedies(const std::vector<Remedy>& remedies, std::string& out) {
  const auto list = [&](bool played) {
    bool first = true;
    for (const auto& r : remedies) {
      if (r.played.has_value() != played) continue;
      if (std::exchange(first, false)) add_line(std::string(remedies_title(played)), out);
      add_line("  " + remedy_line(r), out);
    }
  };
  list(true);
  list(false);
}

Json place_json(const QueuePlace& p) {
  Json out{{"clusterQueue", p.queue.text()}, {"position", p.position}, {"positionInLocalQueue", p.local_position},
           {"waiting", p.waiting},           {"parked", p.parked},     {"preempting", p.sticky}};
  if (!p.equal_to.empty()) out["equalTo"] = p.equal_to;
  if (!p.record_reason.empty()) out["recordReason"] = p.record_reason;
  out["ahead"] = Json::array();
  for (const auto& a : p.ahead)
    out["ahead"].push_back({{"workload", name_of(a)}, {"priority", a.workload->priority}, {"parked", a.parked}});
  return out;
}

Json trial_json(const FlavorTrial& t) {
  const auto amount = [&](Amount a) { return amount_text(a, t.resource); };
  Json out{{"podSet", t.pod_set}, {"flavor", t.flavor.text()}, {"resource", t.resource.text()}, {"requested", amount(t.requested)}};
  if (t.earlier != 0) out["earlierPodSets"] = amount(t.earlier);
  out["nominal"] = amount(t.quota.nominal);
  if (t.quota.borrowing_limit) out["borrowingLimit"] = amount(*t.quota.borrowing_limit);
  if (t.quota.lending_limit) out["lendingLimit"] = amount(*t.quota.lending_limit);
  out["used"] = amount(t.quota.figures.usage);
  out["borrowed"] = amount(t.quota.figures.borrowed);
  out["available"] = amount(std::max<Amount>(0, t.quota.figures.available));
  out["maximum"] = amount(t.quota.figures.potential);
  out["verdict"] = verdict_name(t.verdict);
  if (!t.mismatch.empty()) out["mismatch"] = t.mismatch;
  if (t.missing != 0) out["missing"] = amount(t.missing);
  if (!t.blocked_by.empty()) out["blockedBy"] = t.blocked_by;
  return out;
}

Json holders_json(const std::vector<Holder>& holders, const Symbol& resource) {
  Json out = Json::array();
  for (const auto& h : holders) {
    Json one{{"workload", full_name(h.namespace_, h.name)}, {"clusterQueue", h.queue.text()}, {"priority", h.priority}};
    if (h.amount != 0) one["amount"] = amount_text(h.amount, resource);
    if (h.evicted) one["evicted"] = true;
    if (h.kept) one["keptForMigration"] = true;
    out.push_back(std::move(one));
  }
  return out;
}

Json remedy_json(const Remedy& r) {
  Json out{{"kind", kind_name(r.kind)}};
  if (!r.object.empty()) out["object"] = r.object;
  for (const auto& s : r.steps) {
    Json step{{"flavor", s.flavor.text()}, {"resource", s.resource.text()}, {"amount", amount_text(s.amount, s.resource)}};
    if (r.kind != Remedy::Kind::free) {
      step["from"] = amount_text(s.from, s.resource);
      step["to"] = amount_text(s.to, s.resource);
    }
    out["steps"].push_back(std::move(step));
  }
  if (!r.ending.empty()) out["ending"] = holders_json(r.ending, r.steps.empty() ? Symbol() : r.steps.front().resource);
  if (!r.pod_set.empty()) out["podSet"] = r.pod_set;
  if (r.kind == Remedy::Kind::more_nodes) {
    out["nodes"] = r.nodes;
    out["like"] = r.from;
    out["domain"] = r.to;
  } else if (!r.from.empty()) {
    out["from"] = r.from;
    out["to"] = r.to;
  }
  for (const auto& s : r.policy.settings) out["settings"].push_back({{"setting", s.setting}, {"from", s.from}, {"to", s.to}});
  if (r.played) out["played"] = {{"before", r.played->before}, {"after", r.played->after}, {"evicted", r.played->evicted}};
  out["text"] = remedy_text(r);
  return out;
}

std::string_view phase_text(const Why& why) { return why.deleted ? "Deleted" : name_of(why.phase); }

}  // namespace

std::string_view remedies_title(bool played) {
  return played ? "It would be given quota (each was played on a copy of the state, with everybody who waits):"
                : "It would be given quota if nobody else waited (tried on a copy of quota and places):";
}

std::string remedy_line(const Remedy& r) { return printable(remedy_text(r) + (r.played ? played_text(*r.played) : std::string())); }

std::string to_text(const Why& why) {
  std::string out;
  std::vector<std::string> of;
  if (!why.job.empty()) of.push_back(why.job);
  if (!why.flavors.empty()) of.push_back(flavors_words(why.flavors));
  add_line(why.object + (of.empty() ? "" : " (" + joined(of) + ")") + ": " + std::string(phase_text(why)), out);
  add_line(why.headline, out);
  // Of a family that waits the message is those of its Options, which stand below.
  if (!why.message.empty() && (why.options.empty() || why.phase != Phase::pending)) add_line("  " + why.message, out);
  if (why.since.is_set()) out += "  since " + format_rfc3339(why.since) + "\n";
  for (const auto& f : why.facts) add_line("- " + f, out);
  if (!why.events.empty()) {
    Table t;
    t.columns = {{"OFFSET", false, true}, {"TIME"}, {"WHAT"}};
    for (const auto& e : why.events) t.rows.push_back({std::to_string(e.offset), format_rfc3339_micro(e.time), e.text});
    out += "Decisions:\n" + render(t, {.indent = "  "});
  }
  if (why.life)
    for (const auto& line : life_lines(*why.life)) add_line(line, out);
  if (why.place) write_place(*why.place, out);
  if (!why.trials.empty()) write_trials(why.trials, out);
  if (!why.places.empty()) write_places(why.places, out);
  if (!why.users.empty()) write_users(why.users, out);
  if (!why.preemption.empty()) {
    out += "Preemption:\n";
    for (const auto& p : why.preemption) add_line("  " + p, out);
  }
  write_remedies(why.remedies, out);
  if (!why.options.empty()) out += "Options, the best first:\n";
  for (const auto& option : why.options) add_indented(to_text(option), out);
  return out;
}

Json to_json(const Why& why) {
  Json out{{"object", why.object}};
  if (!why.job.empty()) out["job"] = why.job;
  for (const Symbol& flavor : why.flavors) out["flavors"].push_back(flavor.text());
  out["phase"] = phase_text(why);
  out["headline"] = why.headline;
  out["reason"] = why.reason;
  out["message"] = why.message;
  if (why.since.is_set()) out["since"] = format_rfc3339(why.since);
  out["facts"] = why.facts;
  out["decisions"] = Json::array();
  for (const auto& e : why.events)
    out["decisions"].push_back({{"offset", e.offset}, {"time", format_rfc3339_micro(e.time)}, {"text", e.text}});
  if (why.life) out["life"] = to_json(*why.life);
  for (const auto& option : why.options) out["options"].push_back(to_json(option));
  if (why.deleted || why.phase != Phase::pending || !why.options.empty()) return out;
  if (why.place) out["queue"] = place_json(*why.place);
  out["quota"] = Json::array();
  for (const auto& t : why.trials) out["quota"].push_back(trial_json(t));
  if (!why.places.empty()) out["places"] = Json::array();
  for (const auto& p : why.places) out["places"].push_back(place_trial_json(p));
  out["users"] = Json::array();
  for (const auto& u : why.users) {
    out["users"].push_back({{"flavor", u.flavor.text()},
                            {"resource", u.resource.text()},
                            {"inQueue", amount_text(u.own_total, u.resource)},
                            {"inCohort", amount_text(u.tree_total, u.resource)},
                            {"own", holders_json(u.own, u.resource)},
                            {"ownLeftOut", u.own_left_out},
                            {"others", holders_json(u.others, u.resource)},
                            {"othersLeftOut", u.others_left_out}});
  }
  out["preemption"] = to_json(why.preempting);
  out["preemption"]["text"] = why.preemption;
  out["remedies"] = Json::array();
  for (const auto& r : why.remedies) out["remedies"].push_back(remedy_json(r));
  return out;
}

}  // namespace hindsight::projections
