#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <string_view>
#include <utility>

#include "admission/domain/domain.hpp"
#include "cli/commands.hpp"
#include "cli/get_request.hpp"
#include "cli/listing.hpp"
#include "cli/progress.hpp"
#include "cli/watched.hpp"
#include "projections/format.hpp"
#include "projections/lookup.hpp"
#include "projections/objects.hpp"
#include "replay/moment.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::cli {
namespace {

using projections::Filter;
using projections::Table;
using Form = GetRequest::Form;
using replay::Position;

/// What is looked at: a log, the state of a domain of it, and the events that led there. Each only if it is asked for.
struct GetView {
  std::unique_ptr<ProgressBar> bar;  ///< Outlives those that tell it how far they are.
  Journey journey;
  std::unique_ptr<EventHistory> events;
  Position position = 0;  ///< Of the log, not of the domain.

  [[nodiscard]] const events::Log& log() const { return *journey.log; }
};

bool is_events(const WantedKind& wanted) { return wanted.kind->plural == "events"; }

/// Behind which position the events begin that count.
Result<Position> events_from(const events::Log& log, const std::string& since) {
  if (since.empty()) return Position{0};
  if (since == "now" || since == "latest") return log.last();  // none of those that are there
  return replay::first_record(log, since).map([](Position first) { return first - 1; });
}

Result<GetView> open_view(const Session& session, const GetOptions& o, const GetRequest& request) {
  GetView out;
  const bool state = !std::all_of(request.wanted.begin(), request.wanted.end(), is_events);
  std::string domain;
  if (state && !o.watch) {
    auto journey = travel(session, o.past);
    if (!journey) return tl::unexpected(journey.error());
    out.journey = std::move(*journey);
    out.position = out.journey.position();
    domain = out.journey.past->domain_name();
  } else {
    auto log = open_for_reading(o.past);
    if (!log) return tl::unexpected(log.error());
    out.journey.log = std::move(*log);
    auto chosen = replay::choose_domain(out.log(), o.past.domain);
    if (!chosen) return tl::unexpected(chosen.error());
    domain = std::move(*chosen);
    const auto to = o.watch ? out.log().last() : replay::resolve(out.log(), o.past.at);
    if (!to) return tl::unexpected(to.error());
    out.position = *to;
  }
  out.bar = std::make_unique<ProgressBar>(session, "folding");
  if (state && o.watch) {
    out.journey.past = std::make_unique<replay::Past>(out.log(), domain, replay::PastOptions{.progress = out.bar->callback()});
    if (auto ok = fold(*out.journey.past, out.position); !ok) return tl::unexpected(ok.error());
    tell_notices(session, *out.journey.past);
  }
  if (std::any_of(request.wanted.begin(), request.wanted.end(), is_events)) {
    const auto from = events_from(out.log(), o.since);
    if (!from) return tl::unexpected(from.error());
    out.events = std::make_unique<EventHistory>(out.log(), domain, request.events, out.bar->callback());
    if (auto ok = out.events->begin_behind(std::min(*from, out.position)); !ok) return tl::unexpected(ok.error());
    if (auto ok = out.events->go_on(out.position); !ok) return tl::unexpected(ok.error());
  }
  out.bar->clear();
  return out;
}

/// Goes on to where the log ends now.
Result<void> go_on(GetView& view, Position to) {
  if (view.journey.past)
    if (auto ok = fold(*view.journey.past, to); !ok) return ok;
  if (view.events)
    if (auto ok = view.events->go_on(to); !ok) return ok;
  view.bar->clear();
  view.position = to;
  return {};
}

/// The objects of one kind that were asked for, and what was said of names that are not there.
struct Found {
  const KnownKind* kind = nullptr;
  Listing listing;
  std::optional<std::string> namespace_;  ///< The only one that was looked at.
  std::vector<std::string> missing;
};

/// An object by the name that it was asked for; none: in any namespace.
using FullName = std::pair<std::optional<std::string>, std::string>;

/// Jobs stand for their Workloads; those that have none go to `missing`.
std::vector<FullName> resolved_names(const GetView& view, const GetOptions& o, const WantedKind& wanted,
                                     std::vector<std::string>& missing) {
  std::vector<FullName> out;
  for (const auto& name : wanted.names) {
    if (!name.job_kind.empty()) {
      const auto at = projections::find_workload(view.journey.state(), target_of(name, o.namespace_));
      if (at)
        out.emplace_back(projections::text(at->workload->namespace_), at->workload->name.text());
      else
        missing.push_back(at.error().message);
      continue;
    }
    auto namespace_ = name.namespace_;
    if (!namespace_ && wanted.kind->namespaced && !o.all_namespaces) namespace_ = o.namespace_;
    out.emplace_back(std::move(namespace_), name.name);
  }
  return out;
}

Filter filter_of(const GetOptions& o, const GetRequest& request, const WantedKind& wanted, const std::vector<FullName>& names) {
  Filter out;
  if (wanted.kind->namespaced && !o.all_namespaces) {
    out.namespace_ = names.empty() ? o.namespace_ : names.front().first;
    for (const auto& [namespace_, name] : names)
      if (namespace_ != out.namespace_) out.namespace_.reset();
  }
  for (const auto& [namespace_, name] : names) out.names.push_back(name);
  out.cluster_queue = o.cluster_queue;
  out.local_queue = o.local_queue;
  out.phases = request.phases;
  return out;
}

/// All of the kind that the filter lets through.
Listing list_all(const GetView& view, const KnownKind& kind, const Filter& filter, const ListingParts& parts) {
  if (kind.plural != "events") return list_objects(view.journey.state(), kind, filter, parts);
  Listing out;
  auto events = view.events->events();
  std::erase_if(events, [&](const auto& event) {
    const std::string namespace_ = event.namespace_.empty() ? "default" : event.namespace_;
    return !filter.wants_namespace(namespace_);
  });
  if (parts.table) out.table = events_table(events, !filter.namespace_);
  if (parts.objects)
    for (const auto& event : events) out.objects.push_back(event_object(event));
  return out;
}

/// "workloads "x" not found, did you mean y?"
std::string not_found_text(const GetView& view, const KnownKind& kind, const FullName& name, const Filter& filter) {
  const std::string wanted = projections::full_name(name.first.value_or(""), name.second);
  Filter anybody;
  anybody.namespace_ = name.first ? name.first : filter.namespace_;
  std::vector<std::string> names;
  for (const auto& object : list_all(view, kind, anybody, {.table = false}).objects) names.push_back(object["metadata"].value("name", ""));
  const bool elsewhere = name.first && *name.first != "default";
  return std::string(kind.plural) + " \"" + (elsewhere ? wanted : name.second) + "\" not found" +
         projections::did_you_mean(name.second, names);
}

Result<Found> find_all(const GetView& view, const GetOptions& o, const GetRequest& request, std::size_t index, bool with_objects) {
  const WantedKind& wanted = request.wanted[index];
  Found out;
  out.kind = wanted.kind;
  const auto names = resolved_names(view, o, wanted, out.missing);
  if (names.empty() && !wanted.names.empty()) return out;  // jobs that have no Workload
  Filter filter = filter_of(o, request, wanted, names);
  if (is_events(wanted) && request.events.type != nullptr) filter.namespace_ = request.events.namespace_;
  out.namespace_ = filter.namespace_;
  const bool selects = request.selects() || !names.empty();
  out.listing = list_all(view, *wanted.kind, filter, {request.prints_tables(), with_objects || selects || !request.prints_tables()});
  if (!selects) return out;

  std::vector<std::size_t> places;
  std::set<std::size_t> seen;  // places in `names`
  for (std::size_t i = 0; i < out.listing.objects.size(); ++i) {
    const Json& object = out.listing.objects[i];
    const Json& metadata = object["metadata"];
    bool named = names.empty();
    for (std::size_t k = 0; k < names.size(); ++k) {
      const auto& [namespace_, name] = names[k];
      if (metadata.value("name", "") != name || (namespace_ && metadata.value("namespace", *namespace_) != *namespace_)) continue;
      named = true;
      seen.insert(k);
    }
    if (!named || (request.labels && !request.labels->matches(object))) continue;
    if (!request.fields.empty() && !request.fields[index].matches(object, out.listing.phase(i))) continue;
    places.push_back(i);
  }
  for (std::size_t k = 0; k < names.size(); ++k)
    if (!seen.contains(k)) out.missing.push_back(not_found_text(view, *wanted.kind, names[k], filter));
  out.listing.choose(places);
  if (!request.sort || out.listing.objects.empty()) return out;
  std::vector<const Json*> objects;
  for (const auto& object : out.listing.objects) objects.push_back(&object);
  const auto order = order_by(*request.sort, o.sort_by, objects);
  if (!order) return tl::unexpected(order.error());
  out.listing.choose(*order);
  return out;
}

/// What stands before the names in a table of several kinds, as kubectl does.
void name_with_kind(Table& table, const KnownKind& kind) {
  const auto it = std::find_if(table.columns.begin(), table.columns.end(), [](const auto& c) { return c.heading == "NAME"; });
  if (it == table.columns.end()) return;
  const auto column = static_cast<std::size_t>(it - table.columns.begin());
  for (auto& row : table.rows) row[column].text = resource_of(kind) + "/" + row[column].text;
}

void print_tables(const Session& session, const GetOptions& o, const GetRequest& request, std::vector<Found>& all, bool headings) {
  bool first = true;
  for (auto& found : all) {
    if (found.listing.table.rows.empty()) continue;
    if (all.size() > 1) name_with_kind(found.listing.table, *found.kind);
    if (!first && headings) session.out << "\n";
    first = false;
    session.out << projections::render(
        found.listing.table, {.wide = request.form == Form::wide, .colour = session.colour, .headings = headings && !o.no_headings});
  }
}

void tell_none(const Session& session, const std::vector<Found>& all) {
  const auto& namespace_ = all.front().namespace_;
  session.err << "No resources found" << (all.size() == 1 && namespace_ ? " in " + printable(*namespace_) + " namespace." : ".")
              << std::endl;
}

/// Prints what was found. `headings` false: a table goes on, and each object is a document of its own.
Result<void> print_found(const Session& session, const GetOptions& o, const GetRequest& request, std::vector<Found>& all, bool headings) {
  const bool none =
      std::all_of(all.begin(), all.end(), [](const Found& f) { return f.listing.table.rows.empty() && f.listing.objects.empty(); });
  const bool named = std::any_of(request.wanted.begin(), request.wanted.end(), [](const WantedKind& w) { return !w.names.empty(); });
  if (request.prints_tables()) {
    if (none && !named && headings) tell_none(session, all);
    print_tables(session, o, request, all, headings);
    return {};
  }
  if (request.form == Form::name) {
    for (const auto& found : all)
      for (const auto& object : found.listing.objects)
        session.out << resource_of(*found.kind) << "/" << printable(object["metadata"]["name"].get<std::string>()) << "\n";
    return {};
  }
  if (request.form == Form::columns) {
    if (none && !named && headings) tell_none(session, all);
    std::vector<const Json*> objects;
    for (const auto& found : all)
      for (const auto& object : found.listing.objects) objects.push_back(&object);
    if (objects.empty()) return {};
    const auto table = request.columns->table(objects);
    if (!table) return tl::unexpected(table.error());
    session.out << projections::render(*table, {.colour = session.colour, .headings = headings && !o.no_headings});
    return {};
  }
  Json objects = Json::array();
  for (auto& found : all)
    for (auto& object : found.listing.objects) objects.push_back(std::move(object));
  std::vector<Json> documents;
  if (o.watch) {
    for (auto& object : objects) documents.push_back(std::move(object));
  } else {
    const bool one = request.wanted.size() == 1 && request.wanted.front().names.size() == 1 && objects.size() == 1;
    documents.push_back(one ? std::move(objects.front()) : projections::list_of(std::move(objects)));
  }
  for (const auto& document : documents) {
    if (request.form == Form::path) {
      const auto text = request.path->print(document);
      if (!text) return tl::unexpected(text.error());
      session.out << *text;
    } else {
      if (o.watch && request.form == Form::yaml) session.out << "---\n";
      print_document(session, document, request.form == Form::yaml ? "yaml" : "json");
    }
  }
  return {};
}

Result<void> find_missing(const std::vector<Found>& all) {
  std::vector<std::string> missing;
  for (const auto& found : all) missing.insert(missing.end(), found.missing.begin(), found.missing.end());
  if (missing.empty()) return {};
  return fail(ErrorKind::not_found, projections::joined(missing, "; "));
}

Result<std::vector<Found>> find_everything(const GetView& view, const GetOptions& o, const GetRequest& request) {
  std::vector<Found> out;
  for (std::size_t i = 0; i < request.wanted.size(); ++i) {
    auto found = find_all(view, o, request, i, o.watch);
    if (!found) return tl::unexpected(found.error());
    out.push_back(std::move(*found));
  }
  return out;
}

/// Before each object stands what happened to it (--output-watch-events).
void name_events(Found& found, const std::vector<Watched::Event>& events) {
  auto& table = found.listing.table;
  if (!table.rows.empty()) table.columns.insert(table.columns.begin(), {"EVENT"});
  for (std::size_t i = 0; i < table.rows.size(); ++i) table.rows[i].insert(table.rows[i].begin(), std::string(name_of(events[i])));
  for (std::size_t i = 0; i < found.listing.objects.size(); ++i)
    found.listing.objects[i] = Json{{"type", name_of(events[i])}, {"object", std::move(found.listing.objects[i])}};
}

Result<int> keep_watching(const Session& session, const GetOptions& o, const GetRequest& request, GetView view) {
  Watched watched(request.prints_tables(), request.form == Form::wide);
  bool headings = true;  // they stand above the first objects, whenever these come
  for (bool first = true;; first = false) {
    auto all = find_everything(view, o, request);
    if (!all) return tl::unexpected(all.error());
    if (first)
      if (auto ok = find_missing(*all); !ok) return tl::unexpected(ok.error());
    bool any = false;
    for (auto& found : *all) {
      const auto events = watched.next(*found.kind, found.listing, found.kind->plural == "events");
      any = any || !events.empty();
      if (o.watch_events) name_events(found, events);
    }
    if (first || any)
      if (auto ok = print_found(session, o, request, *all, headings); !ok) return tl::unexpected(ok.error());
    headings = headings && !any;
    session.out.flush();
    for (Position end = view.position; end == view.position;) {
      if (!session.out.good()) return exit_ok;
      const auto grown = view.log().wait_beyond(view.position, Duration::seconds(1));
      if (!grown) return tl::unexpected(grown.error());
      end = *grown;
      if (end != view.position) {
        if (auto ok = go_on(view, end); !ok) return tl::unexpected(ok.error());
        break;
      }
    }
  }
}

Result<int> get(const Session& session, const GetOptions& o) {
  const auto request = read_get_request(o);
  if (!request) return tl::unexpected(request.error());
  auto view = open_view(session, o, *request);
  if (!view) return tl::unexpected(view.error());
  if (o.watch) return keep_watching(session, o, *request, std::move(*view));
  auto all = find_everything(*view, o, *request);
  if (!all) return tl::unexpected(all.error());
  if (view->events && view->events->left_out() > 0)
    session.warn(with_commas(view->events->left_out()) + " older events are left out; allowed: --since or --for, to ask for fewer");
  if (auto ok = print_found(session, o, *request, *all, true); !ok) return tl::unexpected(ok.error());
  if (auto ok = find_missing(*all); !ok) return tl::unexpected(ok.error());
  return exit_ok;
}

}  // namespace

void add_get(CLI::App& app, Session& session) {
  const auto o = std::make_shared<GetOptions>();
  auto* c = add_command(app, session, "get", "List workloads, queues, cohorts, flavors, nodes or events, now or at any past moment",
                        "  hindsight get workloads -A --log hindsight.db\n"
                        "  hindsight get cq,lq -o wide --at 2026-01-01T00:00:10Z --log hindsight.db\n"
                        "  hindsight get wl -c team-a --status pending --at -5m --log hindsight.db\n"
                        "  hindsight get job/team-a/train -o jsonpath='{.spec.priority}' --log hindsight.db\n"
                        "  hindsight get events --for workload/team-a/job-train-1f2e3 --log hindsight.db",
                        [o, &session] { return get(session, *o); });
  add_get_options(*c, *o);
}

}  // namespace hindsight::cli
