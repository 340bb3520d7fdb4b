#include "runtime/metrics_text.hpp"

#include <cstdio>
#include <string_view>

namespace hindsight::runtime {
namespace {

std::string_view text_of(projections::MetricType type) {
  switch (type) {
    case projections::MetricType::counter:
      return "counter";
    case projections::MetricType::histogram:
      return "histogram";
    case projections::MetricType::gauge:
      break;
  }
  return "gauge";
}

/// A label may hold whatever a domain or a kind is called.
std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

void MetricsText::add_seconds(projections::MetricName name, double value, const Labels& labels) {
  char text[64];
  std::snprintf(text, sizeof text, "%.3f", value);
  sample(name, "", text, labels);
}

std::string MetricsText::number(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

void MetricsText::sample(projections::MetricName name, const char* suffix, const std::string& value, const Labels& labels) {
  const auto& info = name.info();
  if (last_ != info.name) {
    last_ = info.name;
    text_.append("# HELP ").append(info.name).append(" ").append(info.help).append("\n");
    text_.append("# TYPE ").append(info.name).append(" ").append(text_of(info.type)).append("\n");
  }
  text_.append(info.name).append(suffix);
  for (std::size_t i = 0; i < labels.size(); ++i)
    text_.append(i == 0 ? "{" : ",").append(labels[i].first).append("=\"").append(escaped(labels[i].second)).append("\"");
  text_.append(labels.empty() ? " " : "} ").append(value).append("\n");
}

}  // namespace hindsight::runtime
