// Workloads that claim to be Options, Parents, or slices of somebody (8691): anybody who may write Workloads can make them.

#include "tests/hostile/hostile_objects.hpp"

namespace hindsight::hostile {
namespace {

constexpr const char* api = "kueue.x-k8s.io/v1beta2";
constexpr const char* gate = "kueue.x-k8s.io/concurrent-admission";

std::string uid_of(const std::string& kind, const std::string& name) { return "@uid:" + kind + "/" + name; }

Json as_option(Json w, const std::string& parent, const std::string& uid) {
  w["metadata"]["ownerReferences"] = Json::array({owner(api, "Workload", parent, uid)});
  w["spec"]["preemptionGates"] = Json::array({{{"name", gate}}});
  w["spec"]["admissionConstraints"] = {{"allowedResourceFlavors", Json::array({"any"})}};
  return w;
}

}  // namespace

void add_families(std::vector<HostileKind>& out) {
  const auto add = [&out](const std::string& name, std::function<std::vector<Write>(Making&)> make) {
    out.push_back({"family/" + name, Right::workloads, std::move(make)});
  };
  add("forged-option-of-ones-own", [](Making& m) {
    const std::string parent = m.name("fp");
    return std::vector<Write>{create(workload(m, parent)),
                              create(as_option(workload(m, m.name("forged")), parent, uid_of("Workload", parent)))};
  });
  // With the name that an Option of ours has; ours cannot be made, or this one is taken for it.
  for (const char* flavor : {"any", "spot"})
    add("forged-option-with-the-name-of-" + std::string(flavor), [flavor](Making& m) {
      const std::string parent = m.name("fn");
      Json bigger = as_option(workload(m, parent + "-option-" + flavor), parent, uid_of("Workload", parent));
      bigger["spec"]["podSets"][0]["count"] = 1000;
      return std::vector<Write>{create(workload(m, parent)), remove("Workload", parent + "-option-" + flavor), create(std::move(bigger))};
    });
  add("name-of-an-option-taken-before", [](Making& m) {
    const std::string parent = m.name("ft");
    return std::vector<Write>{create(workload(m, parent + "-option-any")), create(workload(m, parent))};
  });
  add("option-of-nobody",
      [](Making& m) { return std::vector<Write>{create(as_option(workload(m, m.name("fo")), "nobody", m.name("no-uid")))}; });
  add("option-of-somebody-elses", [](Making& m) {
    if (m.victims.empty()) return std::vector<Write>();
    const auto& v = m.victims[m.random.below(m.victims.size())];
    return std::vector<Write>{create(as_option(workload(m, m.name("fs")), v.name, v.uid))};
  });
  add("option-of-an-option", [](Making& m) {
    const std::string a = m.name("fa"), b = m.name("fb");
    return std::vector<Write>{create(workload(m, a)), create(as_option(workload(m, b), a, uid_of("Workload", a))),
                              create(as_option(workload(m, m.name("fc")), b, uid_of("Workload", b)))};
  });
  add("options-in-a-circle", [](Making& m) {
    const std::string a = m.name("ca"), b = m.name("cb");
    return std::vector<Write>{
        create(workload(m, a)), create(as_option(workload(m, b), a, uid_of("Workload", a))),
        patch("Workload", a, {{"metadata", {{"ownerReferences", Json::array({owner(api, "Workload", b, uid_of("Workload", b))})}}}})};
  });
  add("parent-becomes-an-option", [](Making& m) {
    const std::string a = m.name("pa"), b = m.name("pb");
    return std::vector<Write>{create(workload(m, a)), create(workload(m, b)),
                              patch("Workload", b,
                                    {{"metadata", {{"ownerReferences", Json::array({owner(api, "Workload", a, uid_of("Workload", a))})}}},
                                     {"spec", {{"preemptionGates", Json::array({{{"name", gate}}})}}}})};
  });
  add("marked-as-a-parent", [](Making& m) {
    Json w = workload(m, m.name("fm"));
    w["metadata"]["labels"]["kueue.x-k8s.io/concurrent-admission-parent"] = "true";
    w["metadata"]["annotations"]["kueue.x-k8s.io/parent-option"] = "true";
    return std::vector<Write>{create(std::move(w))};
  });
  add("gates-of-all-names", [](Making& m) {
    Json w = workload(m, m.name("fg"));
    w["spec"]["preemptionGates"] = Json::array();
    for (int i = 0; i < 20; ++i) w["spec"]["preemptionGates"].push_back({{"name", "gate-" + std::to_string(i)}});
    return std::vector<Write>{create(std::move(w))};
  });
  add("constrained-to-nothing", [](Making& m) {
    Json w = workload(m, m.name("fz"));
    w["spec"]["admissionConstraints"] = {{"allowedResourceFlavors", Json::array({"none-of-these"})}};
    return std::vector<Write>{create(std::move(w))};
  });
  add("options-deleted-again-and-again", [](Making& m) {
    const std::string parent = m.name("fd");
    std::vector<Write> writes{create(workload(m, parent))};
    for (int i = 0; i < 5; ++i)
      for (const char* flavor : {"any", "spot"}) writes.push_back(remove("Workload", parent + "-option-" + flavor));
    return writes;
  });
  add("option-is-turned-on-and-off", [](Making& m) {
    const std::string parent = m.name("fx");
    std::vector<Write> writes{create(workload(m, parent))};
    for (int i = 0; i < 6; ++i) writes.push_back(patch("Workload", parent + "-option-spot", {{"spec", {{"active", i % 2 == 1}}}}));
    return writes;
  });
  out.push_back(
      {"family/option-admitted-by-itself", Right::statuses, [](Making& m) {
         const std::string parent = m.name("fy");
         const auto condition = [](const char* type) {
           return Json{
               {"type", type}, {"status", "True"}, {"reason", type}, {"message", ""}, {"lastTransitionTime", "2026-01-01T00:00:00Z"}};
         };
         std::vector<Write> writes{create(workload(m, parent))};
         for (const char* flavor : {"any", "spot"})
           writes.push_back(patch(
               "Workload", parent + "-option-" + flavor,
               {{"status",
                 {{"admission",
                   {{"clusterQueue", "mallory"},
                    {"podSetAssignments",
                     Json::array({{{"name", "main"}, {"count", 1}, {"flavors", {{"cpu", flavor}}}, {"resourceUsage", {{"cpu", "1"}}}}})}}},
                  {"conditions", Json::array({condition("QuotaReserved"), condition("Admitted")})}}}},
               true));
         return writes;
       }});
}

/// Each of these makes what one owner has larger, and with it what a step about it may cost.
void add_family_floods(std::vector<Flood>& out) {
  const auto add = [&out](std::string name, std::function<Write(Making&, std::uint64_t)> make) {
    Flood flood{std::move(name), Right::workloads, std::move(make)};
    flood.families = true;
    out.push_back(std::move(flood));
  };
  add("options-of-one-parent", [](Making& m, std::uint64_t n) {
    const std::string parent = m.name("one");
    if (n == 0) return create(workload(m, parent));
    return create(as_option(workload(m, m.name("o" + std::to_string(n))), parent, uid_of("Workload", parent)));
  });
  add("parents-of-one-owner", [](Making& m, std::uint64_t n) {
    Json w = workload(m, m.name("p" + std::to_string(n)));
    w["metadata"]["ownerReferences"] = Json::array({owner("batch/v1", "Job", "none", m.name("owner"))});
    return create(std::move(w));
  });
  add("slices-of-one-job", [](Making& m, std::uint64_t n) {
    Json w = workload(m, m.name("s" + std::to_string(n)));
    w["metadata"]["annotations"] = {{"kueue.x-k8s.io/elastic-job", "true"}};
    if (n != 0)
      w["metadata"]["annotations"]["kueue.x-k8s.io/workload-slice-replacement-for"] = "mallory/" + m.name("s" + std::to_string(n - 1));
    w["metadata"]["ownerReferences"] = Json::array({owner("batch/v1", "Job", "none", m.name("elastic"))});
    return create(std::move(w));
  });
}

}  // namespace hindsight::hostile
