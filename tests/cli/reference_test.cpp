// docs/commands.md and README.md say what the program does: the options of every command stand there as the program describes them, and
// every example is run, with the output that stands there. HINDSIGHT_WRITE_DOCS=1 writes both anew.

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>
#include <sstream>

#include "cli/application.hpp"
#include "tests/cli/commands_of.hpp"
#include "tests/cli/worlds.hpp"

namespace hindsight::test {
namespace {

const std::string reference = "docs/commands.md";
const std::string begin_mark = "<!-- options: ", end_mark = "<!-- end -->";

std::string in_cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, 1, '\\');
  return text;
}

/// What the program says of a command, as Markdown.
std::string options_text(const CLI::App& command) {
  std::string out = command.get_description() + ".\n\n| argument or option | what |\n|---|---|\n";
  for (const auto* option : command.get_options()) {
    const bool flag = option->get_expected_max() == 0;
    std::string type = flag ? std::string() : option->get_type_name();
    const auto values = type.find(":{");
    std::string what = option->get_description();
    if (values != std::string::npos) what += ": one of " + type.substr(values + 2, type.size() - values - 3);
    if (values != std::string::npos) type.erase(values);
    if (const auto last = type.find_last_of(':'); last != std::string::npos) {
      // "TEXT:MOMENT" is called by what it means, "POSITION:1 or more" by what stands before its bounds.
      const bool bounds = std::isdigit(static_cast<unsigned char>(type[std::min(last + 1, type.size() - 1)])) != 0;
      bounds ? type.erase(last) : type.erase(0, last + 1);
    }
    if (option->get_lnames() == std::vector<std::string>{"help"} || option->get_lnames() == std::vector<std::string>{"help-all"}) continue;
    const bool positional = option->nonpositional() == false;
    out += "| `" + in_cell(option->get_name(positional, !positional)) + (flag || positional ? "" : " " + type.substr(0, type.find(' '))) +
           "` | " + in_cell(what);
    if (option->get_required()) out += "; required";
    if (!option->get_default_str().empty() && !flag) out += "; default `" + option->get_default_str() + "`";
    if (!option->get_envname().empty()) out += "; environment: `" + option->get_envname() + "`";
    out += " |\n";
  }
  return out;
}

/// Runs a line as a shell in a folder where `hindsight` is the program; what it prints, both streams.
std::string run(const std::string& line, const std::string& folder) {
  const std::string program = std::filesystem::path(HINDSIGHT_BINARY).parent_path().string();
  const std::string command = "cd " + folder + " && export PATH=" + program + ":$PATH && { " + line + "; } 2>&1 </dev/null";
  std::string out;
  // Other tests of this process have it ignored, and so would what runs here be told of a reader that has gone, otherwise than in a shell.
  const auto before = std::signal(SIGPIPE, SIG_DFL);
  FILE* pipe = popen(command.c_str(), "r");
  (void)std::signal(SIGPIPE, before);
  if (pipe == nullptr) return "no pipe";
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) out.append(buffer.data(), n);
  pclose(pipe);
  return out;
}

/// The page as it has to be: its own text, with options and outputs as they are now.
std::string refreshed(const std::string& page, const std::map<std::string, const CLI::App*>& commands, const std::string& folder,
                      std::set<std::string>& described, std::map<std::string, int>& examples) {
  std::istringstream in(page);
  std::string out, section, line;
  bool more = static_cast<bool>(std::getline(in, line));
  while (more) {
    out += line + "\n";
    if (line.starts_with(begin_mark)) {
      section = line.substr(begin_mark.size(), line.find(" -->") - begin_mark.size());
      described.insert(section);
      const auto it = commands.find(section);
      if (it != commands.end()) out += options_text(*it->second);
      while ((more = static_cast<bool>(std::getline(in, line))) && line != end_mark) {}
      continue;
    }
    if (!line.starts_with("    $ ")) {
      more = static_cast<bool>(std::getline(in, line));
      continue;
    }
    ++examples[section];
    std::istringstream printed(run(line.substr(6), folder));
    for (std::string l; std::getline(printed, l);) out += (l.empty() ? "" : "    " + l) + "\n";
    // the old output goes: up to the next command, or the next text
    while ((more = static_cast<bool>(std::getline(in, line))) && !line.starts_with("    $ ") &&
           (line.empty() || line.starts_with("    "))) {}
    if (more && !line.starts_with("    $ ")) out += "\n";
  }
  return out;
}

TEST(Documents, AreAllListed) {
  const std::string list = contents("docs/README.md");
  for (const auto& entry : std::filesystem::directory_iterator("docs")) {
    const std::string name = entry.path().filename().string();
    if (name != "README.md") {
      EXPECT_NE(list.find("](" + name + ")"), std::string::npos) << "docs/README.md does not name " << name;
    }
  }
}

/// A folder in which the examples of a page can be run.
struct FolderWithExamples : TemporaryFolder {
  FolderWithExamples() { std::filesystem::create_directory_symlink(std::filesystem::absolute("examples"), path() / "examples"); }
};

/// Where two pages part: below which command, and the lines from there on. Pages are long, and a comparison of both whole hides it.
std::string where_they_part(const std::string& page, const std::string& now) {
  std::istringstream a(page), b(now);
  std::string of_page, of_now, command;
  for (;;) {
    const bool in_page = static_cast<bool>(std::getline(a, of_page)), in_now = static_cast<bool>(std::getline(b, of_now));
    if (!in_page || !in_now || of_page != of_now) break;
    if (of_page.starts_with("    $ ")) command = of_page.substr(6);
  }
  std::string text = "below '" + command + "' stands\n";
  for (int i = 0; i < 4; ++i, std::getline(a, of_page)) text += "- " + of_page + "\n";
  text += "and is printed\n";
  for (int i = 0; i < 4; ++i, std::getline(b, of_now)) text += "+ " + of_now + "\n";
  return text;
}

void expect_up_to_date(const std::string& file, const std::string& page, const std::string& now) {
  if (std::getenv("HINDSIGHT_WRITE_DOCS") != nullptr)
    write(file, now);
  else
    EXPECT_TRUE(page == now) << file << ": " << where_they_part(page, now) << "HINDSIGHT_WRITE_DOCS=1 writes it anew";
}

TEST(Reference, ReadmeShowsWhatIsPrinted) {
  const FolderWithExamples folder;
  const std::string page = contents("README.md");
  std::set<std::string> described;
  std::map<std::string, int> examples;
  const std::string now = refreshed(page, {}, folder.path().string(), described, examples);
  EXPECT_EQ(examples[""], 3);
  expect_up_to_date("README.md", page, now);
}

TEST(Reference, TutorialShowsWhatIsPrinted) {
  const FolderWithExamples folder;
  const std::string page = contents("docs/tutorial.md");
  std::set<std::string> described;
  std::map<std::string, int> examples;
  const std::string now = refreshed(page, {}, folder.path().string(), described, examples);
  EXPECT_EQ(examples[""], 5);
  expect_up_to_date("docs/tutorial.md", page, now);
}

TEST(Reference, DebuggerPageShowsWhatIsPrinted) {
  const FolderWithExamples folder;
  const std::string page = contents("docs/debugger.md");
  std::set<std::string> described;
  std::map<std::string, int> examples;
  const std::string now = refreshed(page, {}, folder.path().string(), described, examples);
  EXPECT_EQ(examples[""], 7);
  expect_up_to_date("docs/debugger.md", page, now);
}

TEST(Reference, EvidencePageShowsWhatIsPrinted) {
  const FolderWithExamples folder;
  const std::string page = contents("docs/evidence.md");
  std::set<std::string> described;
  std::map<std::string, int> examples;
  const std::string now = refreshed(page, {}, folder.path().string(), described, examples);
  EXPECT_EQ(examples[""], 5);
  expect_up_to_date("docs/evidence.md", page, now);
}

TEST(Reference, SaysWhatEveryCommandDoes) {
  std::ostringstream nowhere;
  cli::Session session{nowhere, nowhere};
  const auto app = cli::make_application(session);
  const auto commands = commands_of(*app);
  ASSERT_GE(commands.size(), 14U);

  const FolderWithExamples folder;
  const std::string page = contents(reference);
  std::set<std::string> described;
  std::map<std::string, int> examples;
  const std::string now = refreshed(page, commands, folder.path().string(), described, examples);
  for (const auto& [name, command] : commands) {
    EXPECT_TRUE(described.count(name) > 0) << reference << " has no section with " << begin_mark << name << " -->";
    EXPECT_GT(examples[name], 0) << reference << " has no example of " << name;
  }
  for (const auto& name : described) EXPECT_TRUE(commands.count(name) > 0) << reference << " describes " << name << ", which is no command";
  expect_up_to_date(reference, page, now);
}

}  // namespace
}  // namespace hindsight::test
