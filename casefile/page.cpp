#include "casefile/page.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "casefile/escape.hpp"
#include "casefile/svg.hpp"
#include "evidence/chain.hpp"
#include "evidence/lines.hpp"
#include "projections/format.hpp"

namespace hindsight::casefile {
namespace {

/// Longer lists go on in the files beside the page.
constexpr std::size_t spans_shown = 200, history_shown = 500, text_shown = 2'000;

constexpr std::string_view style = R"(
:root { color-scheme: light dark; --back: #ffffff; --text: #1b1f24; --faint: #59636e; --rule: #d1d9e0; --code: #f3f5f7; --link: #0a58ca;
  --wait: #c4820e; --held: #7d6bb5; --run: #2b8a3e; --stop: #b3362b; --unknown: #9aa3ad; --queue: #0a58ca; --tree: #59636e; }
@media (prefers-color-scheme: dark) { :root { --back: #14171b; --text: #e3e7eb; --faint: #9aa5b1; --rule: #39414a; --code: #1f242a; --link: #79b0ff;
  --wait: #e0a63f; --held: #a99be0; --run: #5fc274; --stop: #ef7d70; --unknown: #6d7782; --queue: #79b0ff; --tree: #9aa5b1; } }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 60rem; background: var(--back); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; overflow-wrap: anywhere; } h2 { margin-top: 2.2rem; font-size: 1.2rem; border-bottom: 1px solid var(--rule); padding-bottom: .2rem; }
h3 { margin: 1.2rem 0 .2rem; font-size: 1rem; overflow-wrap: anywhere; } p, li { overflow-wrap: anywhere; } a { color: var(--link); }
.lead { font-size: 1.15rem; } .faint { color: var(--faint); }
table { border-collapse: collapse; width: 100%; font-size: .9rem; } th, td { text-align: left; vertical-align: top; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--rule); overflow-wrap: anywhere; }
th { color: var(--faint); font-weight: 600; white-space: nowrap; } tbody th { width: 1%; padding-right: 1.2rem; } .times td:nth-child(-n+3) { white-space: nowrap; } td.n { text-align: right; white-space: nowrap; } .void td { color: var(--faint); text-decoration: line-through; }
pre { background: var(--code); padding: .7rem .9rem; overflow-x: auto; font: .82rem/1.45 ui-monospace, monospace; border-radius: .3rem; } code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
details { border-bottom: 1px solid var(--rule); padding: .35rem 0; } summary { cursor: pointer; overflow-wrap: anywhere; }
svg { display: block; width: 100%; height: auto; } svg text { fill: var(--faint); font: 11px system-ui, sans-serif; }
svg .axis, svg .grid { fill: none; stroke: var(--rule); stroke-width: 1; } svg .grid { stroke-dasharray: 2 4; }
svg .curve { fill: none; stroke-width: 1.8; stroke-linejoin: round; } svg .queue { stroke: var(--queue); } svg .tree { stroke: var(--tree); } svg .limit { stroke-width: 1.2; stroke-dasharray: 5 4; }
svg .wait { fill: var(--wait); } svg .held { fill: var(--held); } svg .run { fill: var(--run); } svg .stop { fill: var(--stop); } svg .unknown { fill: var(--unknown); } svg .behind { opacity: .16; }
@media print { pre { white-space: pre-wrap; } }
.legend { margin: .2rem 0 0; padding: 0; list-style: none; display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; font-size: .85rem; color: var(--faint); } .legend svg { display: inline-block; width: 1.4rem; height: .8rem; vertical-align: -.05rem; margin-right: .35rem; }
)";

std::string element(std::string_view name, const std::string& inner, std::string_view kind = {}) {
  std::string out = "<" + std::string(name);
  if (!kind.empty()) out += " class=\"" + std::string(kind) + "\"";
  return out + ">" + inner + "</" + std::string(name) + ">";
}

std::string row(const std::vector<std::string>& cells, std::string_view kind = {}) {
  std::string inner;
  for (const auto& cell : cells) inner += element("td", cell);
  return element("tr", inner, kind) + "\n";
}

std::string head_row(const std::vector<std::string_view>& cells) {
  std::string inner;
  for (const auto cell : cells) inner += element("th", std::string(cell));
  return element("thead", element("tr", inner)) + "\n";
}

std::string heading(std::string_view id, std::string_view words) {
  return "\n<h2 id=\"" + std::string(id) + "\">" + std::string(words) + "</h2>\n";
}

class Page {
 public:
  Page(const Account& account, const Making& making) : account_(account), making_(making) {}

  std::string write() {
    const std::string title = "Evidence: " + account_.target.text();
    const auto digest = evidence::sha256(std::as_bytes(std::span(style)));
    const std::string hash = evidence::base64({reinterpret_cast<const char*>(digest.data()), digest.size()});
    out_ = "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n<meta charset=\"utf-8\"/>\n";
    out_ += "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-" + hash +
            "'; base-uri 'none'; form-action 'none'\"/>\n";
    out_ +=
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<meta name=\"referrer\" content=\"no-referrer\"/>\n";
    out_ += element("title", html(title)) + "\n<style>" + std::string(style) + "</style>\n</head>\n<body>\n<main>\n" +
            element("h1", html(title)) + "\n";
    head();
    life();
    why();
    plots();
    decisions();
    history();
    check();
    return out_ + "</main>\n</body>\n</html>\n";
  }

 private:
  void head() {
    if (account_.answer.why) out_ += element("p", html_cut(account_.answer.why->headline, text_shown), "lead") + "\n";
    std::string rows;
    for (const auto& [name, value] : facts_of(account_, making_))
      rows += element("tr", element("th", html(name)) + element("td", html_cut(value, text_shown))) + "\n";
    out_ += element("table", element("tbody", rows)) + "\n";
  }

  [[nodiscard]] Frame frame() const {
    Frame out{{}, account_.time, account_.life ? &*account_.life : nullptr};
    if (account_.life) {
      out.from = account_.life->created;
      if (!account_.life->end.empty()) out.to = std::max(account_.life->until, out.from);
    }
    for (const auto& plot : account_.plots)
      for (const auto& curve : plot.curves) {
        if (curve.steps.all().empty()) continue;
        if (const Time first = curve.steps.all().front().from; !out.from.is_set() || out.from.micros == 0 || first < out.from)
          out.from = first;
        out.to = std::max(out.to, curve.steps.all().back().from);
      }
    if (!out.from.is_set()) out.from = out.to;
    if (out.to <= out.from) out.to = out.from + Duration::seconds(1);
    return out;
  }

  void life() {
    if (!account_.life) return;
    const auto& life = *account_.life;
    out_ += heading("life", "Its life");
    std::string text;
    for (const auto& line : projections::life_lines(life)) text += line + "\n";
    out_ += life_picture(frame()) + "\n" +
            legend({{"wait", "waited for quota"},
                    {"held", "held back, or for checks"},
                    {"run", "ran"},
                    {"stop", "was being stopped"},
                    {"unknown", "out of sight"}}) +
            "\n";
    out_ += element("pre", html_lines(text)) + "\n";
    std::string rows;
    const std::size_t shown = std::min(life.spans.size(), spans_shown);
    for (std::size_t i = 0; i < shown; ++i) {
      const auto& span = life.spans[i];
      rows +=
          row({html(format_rfc3339_micro(span.from)), html(projections::exact_duration(span.to - span.from)), std::string(span_words(span)),
               html_cut(span.words, text_shown), span.offset == 0 ? std::string() : std::to_string(span.offset)});
    }
    out_ += element("details", element("summary", "Stretch by stretch") +
                                   element("table", head_row({"From", "For", "It", "Why", "Record"}) + element("tbody", rows), "times"));
    rest(life.spans.size() - shown, "life.json");
  }

  static std::string_view span_words(const projections::LifeSpan& span) {
    using Kind = projections::LifeSpan::Kind;
    if (span.is_wait()) return "waited";
    return span.kind == Kind::running ? "ran" : span.kind == Kind::stopping ? "was being stopped" : "was out of sight";
  }

  void rest(std::size_t n, std::string_view file) {
    if (n > 0) out_ += element("p", std::to_string(n) + " more are in " + std::string(file) + ".", "faint") + "\n";
  }

  /// Swatches are pictures too: the policy allows no style beside that of the page.
  static std::string legend(const std::vector<std::pair<std::string_view, std::string>>& entries) {
    std::string inner;
    for (const auto& [kind, words] : entries)
      inner += element("li", "<svg viewBox=\"0 0 14 8\" aria-hidden=\"true\"><rect class=\"" + std::string(kind) +
                                 "\" width=\"14\" height=\"8\"/></svg>" + html(words));
    return element("ul", inner, "legend");
  }

  static std::string curve_legend(const Plot& plot) {
    std::string inner;
    for (const auto& curve : plot.curves)
      inner += element("li", "<svg viewBox=\"0 0 14 8\" aria-hidden=\"true\"><path class=\"curve " + std::string(class_of(curve.kind)) +
                                 "\" d=\"M0 4H14\"/></svg>" + html_cut(curve.name, 300));
    return element("ul", inner, "legend");
  }

  void why() {
    out_ += heading("why", "Why it stood where it did");
    out_ +=
        element("p", "At " + html(moment_words(account_)) + ".", "faint") + "\n" + element("pre", html_lines(why_text(account_))) + "\n";
  }

  void plots() {
    if (account_.plots.empty()) return;
    out_ += heading("plots", "What was used meanwhile");
    out_ += element("p", "Behind the curves: when it waited, was held back, ran and was being stopped.", "faint") + "\n";
    for (const auto& plot : account_.plots) {
      out_ += element("h3", html_cut(plot.title, 300)) + "\n" + plot_picture(plot, frame()) + "\n" + curve_legend(plot) + "\n";
      if (std::any_of(plot.curves.begin(), plot.curves.end(), [](const auto& c) { return c.steps.thinned(); }))
        out_ += element("p", "It changed so often that of each stretch of time only the extremes are shown.", "faint") + "\n";
    }
  }

  void decisions() {
    if (account_.decisions.empty()) return;
    out_ += heading("decisions", "At each decision about it");
    for (const auto& answer : account_.decisions) {
      const std::string at =
          "Record " + std::to_string(answer.position) + ", " + format_rfc3339_micro(answer.time) + ": it " + answer.occasion;
      out_ +=
          element("details", element("summary", html_cut(at, 500)) + element("pre", html_lines(projections::to_text(*answer.why)))) + "\n";
    }
    if (account_.decisions_left_out > 0)
      out_ +=
          element("p", std::to_string(account_.decisions_left_out) + " decisions in the middle are not explained here.", "faint") + "\n";
  }

  void history() {
    out_ += heading("history", "Its history");
    std::string rows;
    const std::size_t shown = std::min(account_.history.size(), history_shown);
    for (std::size_t i = 0; i < shown; ++i) {
      const auto& e = account_.history[i].entry;
      const std::string cause = e.decided      ? "decided at " + std::to_string(e.cause)
                                : e.cause != 0 ? "after " + std::to_string(e.cause)
                                               : "observed";
      rows += row({std::to_string(e.offset), html(format_rfc3339_micro(e.time)), html(cause), html_cut(e.object, 400),
                   html_cut(projections::short_text(account_.history[i]), text_shown)},
                  e.void_ ? "void" : "");
    }
    out_ += element("table", head_row({"Record", "Time", "Cause", "Object", "What"}) + element("tbody", rows), "times") + "\n";
    rest(account_.history.size() - shown, "history.json");
    if (account_.history_left_out > 0)
      out_ += element("p", std::to_string(account_.history_left_out) + " entries in the middle are left out.", "faint") + "\n";
  }

  void check() {
    out_ += heading("check", "How to check it");
    for (const auto& check : checks_of(account_, making_))
      out_ += element("p", html(check.words)) + "\n" + element("pre", html(check.command)) + "\n";
    out_ += heading("files", "What is in the file");
    std::string rows;
    for (const auto& [name, what] : files_of(making_)) rows += row({element("code", html(name)), html(what)});
    out_ += element("table", element("tbody", rows)) + "\n";
    out_ += heading("know", "What to know");
    std::string items;
    for (const auto& remark : remarks_of(account_, making_)) items += element("li", html(remark));
    out_ += element("ul", items) + "\n";
  }

  const Account& account_;
  const Making& making_;
  std::string out_;
};

}  // namespace

std::string page_of(const Account& account, const Making& making) { return Page(account, making).write(); }

}  // namespace hindsight::casefile
