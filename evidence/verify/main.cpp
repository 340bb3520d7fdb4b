#include <CLI/CLI.hpp>
#include <iostream>

#include "evidence/verify/report.hpp"
#include "vocabulary/printable.hpp"

// hindsight-verify: 0, all that is included is proved; 1, something is wrong or not proved; 2, wrong usage.

namespace {

using namespace hindsight;

int complain(const Error& error) {
  std::cerr << "hindsight-verify: error: " << printable(error.message) << "\n";
  return error.kind == ErrorKind::invalid || error.kind == ErrorKind::not_found ? 2 : 1;
}

int run(int argc, char** argv) {
  CLI::App app("Checks evidence of Hindsight offline: whether the records in it are those that a log held when its checkpoints were signed",
               "hindsight-verify");
  std::string folder, records, checkpoints, format = "text";
  std::vector<std::string> key_files;
  evidence::VerifyOptions options;
  auto* place = app.add_option("FOLDER", folder, "The evidence, unpacked: manifest.json, records.jsonl, checkpoints.jsonl");
  auto* loose = app.add_option("--records", records, "Without a folder: the file of records")->type_name("FILE")->excludes(place);
  app.add_option("--checkpoints", checkpoints, "Without a folder: the file of checkpoints")
      ->type_name("FILE")
      ->excludes(place)
      ->needs(loose);
  app.add_option("--public-key", key_files,
                 "An Ed25519 public key in PEM whose signatures count; several may be given. It must not come with the evidence")
      ->type_name("FILE");
  app.add_flag("--unsigned", options.accept_unsigned,
               "Be content with checkpoints that are not signed: that shows accidents, and no fraud");
  app.add_option("-o,--output", format, "text or json")->check(CLI::IsMember({"text", "json"}))->capture_default_str();
  app.footer(
      "Examples:\n  hindsight-verify evidence --public-key audit.pub.pem\n  hindsight-verify --records records.jsonl --checkpoints "
      "checkpoints.jsonl --public-key audit.pub.pem");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  if (folder.empty() && (records.empty() || checkpoints.empty()))
    return complain({ErrorKind::invalid, "found no evidence; allowed: FOLDER, or --records with --checkpoints"});
  if (key_files.empty() && !options.accept_unsigned)
    return complain({ErrorKind::invalid, "found no --public-key; allowed: at least one, or --unsigned"});
  for (const auto& file : key_files) {
    auto key = evidence::PublicKey::read(file);
    if (!key) return complain(key.error());
    options.keys.push_back(std::move(*key));
  }
  options.folder = folder;
  options.records = records;
  options.checkpoints = checkpoints;
  const auto report = evidence::verify_evidence(options);
  if (!report) return complain(report.error());
  if (format == "json")
    evidence::print_json(std::cout, *report);
  else
    evidence::print_report(std::cout, *report);
  std::cout.flush();
  return std::cout && report->good() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::cerr << "hindsight-verify: error: there is not enough memory for this evidence\n";
  } catch (const std::exception& e) {
    std::cerr << "hindsight-verify: error: " << hindsight::printable(e.what()) << "\n";
  }
  return 1;
}
