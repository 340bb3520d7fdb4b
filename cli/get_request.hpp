#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/event_history.hpp"
#include "cli/json_path.hpp"
#include "cli/naming.hpp"
#include "cli/past_options.hpp"
#include "cli/selectors.hpp"
#include "cli/shown_columns.hpp"
#include "projections/tables.hpp"

namespace hindsight::cli {

/// What `get` is called with.
struct GetOptions {
  PastOptions past;
  std::string kind;
  std::vector<std::string> names;
  std::string namespace_ = "default";
  bool all_namespaces = false;
  bool no_headings = false;
  bool watch = false, watch_events = false;
  std::string cluster_queue, local_queue, format, labels, fields, sort_by, for_object, since;
  std::vector<std::string> phases;
};

void add_get_options(CLI::App& command, GetOptions& options);

/// The same after all texts in it were read.
struct GetRequest {
  enum class Form { table, wide, json, yaml, name, path, columns };

  std::vector<WantedKind> wanted;
  Form form = Form::table;
  std::optional<JsonPath> path;          ///< Of -o jsonpath.
  std::optional<CustomColumns> columns;  ///< Of -o custom-columns.
  std::optional<JsonPath> sort;
  std::optional<LabelSelector> labels;
  std::vector<FieldSelector> fields;  ///< One for each of `wanted`; empty: there is none.
  EventFilter events;
  std::set<projections::Phase> phases;

  [[nodiscard]] bool prints_tables() const { return form == Form::table || form == Form::wide; }
  [[nodiscard]] bool selects() const { return sort || labels || !fields.empty(); }
};

/// Errors: invalid; each names the option, what was found and what is allowed.
[[nodiscard]] Result<GetRequest> read_get_request(const GetOptions& options);

}  // namespace hindsight::cli
