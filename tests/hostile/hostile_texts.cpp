// Names, labels and annotations: every key that is read, with values that nobody should write.

#include "tests/hostile/hostile_objects.hpp"

namespace hindsight::hostile {
namespace {

struct Value {
  const char* name;
  std::function<std::string(Making&)> make;
};

std::string many_gates(std::size_t n) {
  std::string out;
  for (std::size_t i = 0; i < n; ++i) out += (i == 0 ? "" : ",") + std::string("example.com/gate-") + std::to_string(i);
  return out;
}

/// For annotations, which take any text up to 256 KiB in all.
const std::vector<Value>& values() {
  static const std::vector<Value> all{
      {"empty", [](Making&) { return std::string(); }},
      {"huge", [](Making&) { return std::string(200'000, 'x'); }},
      {"hostile-text", [](Making&) { return std::string("evil\x1b]0;t\x07\x1b[31m\r\nforged\xc2\x9b\xe2\x80\xae\xf3\xa0\x80\x81"); }},
      {"cut-by-bytes", [](Making& m) { return std::string(32'760 + m.random.below(16), 'a') + std::string("漢漢漢漢漢漢漢漢"); }},
      {"largest-number", [](Making&) { return std::string("9223372036854775807"); }},
      {"beyond-numbers", [](Making&) { return std::string("-99999999999999999999999999"); }},
      {"json-bomb", [](Making&) { return std::string(40'000, '[') + std::string(40'000, ']'); }},
      {"many-parts", [](Making&) { return many_gates(8'000); }},
  };
  return all;
}

/// Every annotation of jobs and Workloads that is read (connectors/json/keys.hpp).
constexpr const char* annotations[] = {"kueue.x-k8s.io/admission-gated-by",
                                       "kueue.x-k8s.io/scheduling-gated-by",
                                       "kueue.x-k8s.io/prebuilt-workload-name",
                                       "kueue.x-k8s.io/job-min-parallelism",
                                       "kueue.x-k8s.io/job-completions-equal-parallelism",
                                       "kueue.x-k8s.io/elastic-job",
                                       "kueue.x-k8s.io/stopping",
                                       "kueue.x-k8s.io/raycluster-generation",
                                       "kueue.x-k8s.io/workload-slice-replacement-for",
                                       "kueue.x-k8s.io/workload-slice-name",
                                       "kueue.x-k8s.io/priority-boost",
                                       "hindsight.dev/resource-policy",
                                       "hindsight.dev/resource-bounds",
                                       "hindsight.dev/resource-plan",
                                       "hindsight.dev/made-by"};

/// Those of pod templates.
constexpr const char* template_annotations[] = {"kueue.x-k8s.io/podset-required-topology",
                                                "kueue.x-k8s.io/podset-preferred-topology",
                                                "kueue.x-k8s.io/podset-unconstrained-topology",
                                                "kueue.x-k8s.io/podset-slice-required-topology",
                                                "kueue.x-k8s.io/podset-slice-size",
                                                "kueue.x-k8s.io/podset-slice-required-topology-constraints",
                                                "kueue.x-k8s.io/podset-group-name"};

constexpr const char* labels[] = {"kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/priority-class", "kueue.x-k8s.io/prebuilt-workload-name",
                                  "kueue.x-k8s.io/max-exec-time-seconds"};

std::string after_slash(const char* key) {
  const std::string text = key;
  return text.substr(text.find('/') + 1);
}

Json named_job(Making& m, const std::string& stem) { return job(m, m.name(stem)); }

}  // namespace

void add_texts(std::vector<HostileKind>& out) {
  for (const char* key : annotations)
    for (const auto& value : values())
      out.push_back({"annotation/" + after_slash(key) + "/" + value.name, Right::jobs, [key, make = value.make](Making& m) {
                       Json j = named_job(m, "note");
                       j["metadata"]["annotations"][key] = make(m);
                       return std::vector<Write>{create(std::move(j))};
                     }});
  // All of them together.
  for (const auto& value : values())
    if (std::string_view(value.name) != "huge" && std::string_view(value.name) != "json-bomb" &&
        std::string_view(value.name) != "many-parts")
      out.push_back({"annotation/all/" + std::string(value.name), Right::jobs, [make = value.make](Making& m) {
                       Json j = named_job(m, "notes");
                       for (const char* key : annotations) j["metadata"]["annotations"][key] = make(m).substr(0, 10'000);
                       return std::vector<Write>{create(std::move(j))};
                     }});
  for (const char* key : template_annotations)
    for (const char* value : {"", "9223372036854775807", "rack/../..", "[{\"level\":0}]"})
      out.push_back({"template-annotation/" + after_slash(key) + "/" + (*value == '\0' ? "empty" : std::string(1, *value)), Right::jobs,
                     [key, value](Making& m) {
                       Json j = named_job(m, "placed");
                       j["spec"]["template"]["metadata"]["annotations"][key] = value;
                       return std::vector<Write>{create(std::move(j))};
                     }});
  for (const char* key : labels)
    for (const char* value : {"", "a.b.c", "UPPER_case", "2147483648", "x-123456789-123456789-123456789-123456789-123456789-1234567890"})
      out.push_back({"label/" + after_slash(key) + "/" + (*value == '\0' ? "empty" : std::string(value).substr(0, 10)), Right::jobs,
                     [key, value](Making& m) {
                       Json j = named_job(m, "labelled");
                       j["metadata"]["labels"][key] = value;
                       return std::vector<Write>{create(std::move(j))};
                     }});
  for (const std::size_t length : {1U, 2U, 62U, 63U, 64U, 200U, 253U})
    out.push_back({"name/of-" + std::to_string(length), Right::jobs, [length](Making& m) {
                     std::string name = std::to_string(m.serial);
                     if (name.size() < length) name = std::string(length - name.size(), 'n') + name;
                     return std::vector<Write>{create(job(m, name.substr(name.size() - length)))};
                   }});
  for (const char* stem : {"0", "xn--nxasmq6b", "job-a-12345", "a.b.c.d", "workload", "localhost"})
    out.push_back(
        {"name/like-" + std::string(stem), Right::jobs, [stem](Making& m) { return std::vector<Write>{create(named_job(m, stem))}; }});
  out.push_back({"labels/thousands", Right::jobs, [](Making& m) {
                   Json j = named_job(m, "many");
                   for (int i = 0; i < 3'000; ++i) j["metadata"]["labels"]["l" + std::to_string(i)] = "v";
                   for (int i = 0; i < 3'000; ++i) j["metadata"]["annotations"]["a" + std::to_string(i)] = "v";
                   return std::vector<Write>{create(std::move(j))};
                 }});
  out.push_back({"elastic/and-everything-else", Right::jobs, [](Making& m) {
                   Json j = named_job(m, "elastic");
                   j["metadata"]["annotations"] = {{"kueue.x-k8s.io/elastic-job", "true"},
                                                   {"kueue.x-k8s.io/job-min-parallelism", "1"},
                                                   {"kueue.x-k8s.io/prebuilt-workload-name", "none"},
                                                   {"hindsight.dev/resource-policy", "Fit"},
                                                   {"kueue.x-k8s.io/admission-gated-by", "a/b"},
                                                   {"kueue.x-k8s.io/scheduling-gated-by", "a/b"}};
                   j["spec"]["parallelism"] = 5;
                   j["spec"]["completions"] = 5;
                   return std::vector<Write>{create(std::move(j))};
                 }});
}

}  // namespace hindsight::hostile
