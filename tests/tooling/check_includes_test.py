#!/usr/bin/python3
"""The check of the include direction passes a sound tree and finds each kind of breach in a bad one."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "check_includes.py"

SOUND = {
    "vocabulary/README.md": "x",
    "vocabulary/amount.hpp": "#include <compare>\n#include <tl/expected.hpp>\n",
    "admission/README.md": "x",
    "admission/quota.cpp": '#include "vocabulary/amount.hpp"\n#include <vector>\n',
    "events/README.md": "x",
    "events/codec.cpp": '#include "schemas/envelope_generated.h"\n#include <flatbuffers/flatbuffers.h>\n#include "admission/quota.cpp"\n',
    "actors/README.md": "x",
    "actors/node.cpp": '#include <caf/all.hpp>\n#include "events/codec.cpp"\n',
    "cli/README.md": "x",
    "cli/main.cpp": '#include "actors/node.cpp"\n#include <CLI/CLI.hpp>\n',
    "tests/README.md": "x",
    "tests/actors/node_test.cpp": '#include <caf/all.hpp>\n#include <gtest/gtest.h>\n#include "actors/node.cpp"\n',
}


class CheckIncludes(unittest.TestCase):
    def run_on(self, changes):
        """Status and output of the script on the sound tree with the given files replaced (None: left out)."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**SOUND, **changes}.items():
                if text is not None:
                    path = Path(folder) / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text)
            run = subprocess.run([sys.executable, SCRIPT, "--root", folder], capture_output=True, text=True, check=False)
            return run.returncode, run.stdout

    def assert_found(self, changes, *fragments):
        status, output = self.run_on(changes)
        self.assertEqual(status, 1, output)
        self.assertEqual(len(output.splitlines()), 1, output)
        for fragment in fragments:
            self.assertIn(fragment, output)

    def test_a_sound_tree_passes(self):
        status, output = self.run_on({})
        self.assertEqual(status, 0, output)

    def test_an_include_against_the_direction_is_found_with_its_line(self):
        self.assert_found({"vocabulary/amount.hpp": '\n#include "admission/quota.cpp"\n'}, "vocabulary/amount.hpp:2:", "admission/quota.cpp")
        self.assert_found({"admission/quota.cpp": '#include "events/codec.cpp"\n'}, "admission/quota.cpp:1:")
        self.assert_found({"events/codec.cpp": '#include "actors/node.cpp"\n'}, "events/codec.cpp:1:")
        self.assert_found({"actors/node.cpp": '#include "cli/main.cpp"\n'}, "actors/node.cpp:1:")

    def test_folders_side_by_side_do_not_include_each_other(self):
        changes = {"replay/README.md": "x", "replay/fold.cpp": '#include "actors/node.cpp"\n'}
        self.assert_found(changes, "replay/fold.cpp:1:", "allowed: admission, events")

    def test_a_room_that_includes_what_it_may_not_is_found(self):
        rooms = {"admission/tables/README.md": "x", "admission/tables/row.hpp": "", "admission/model/README.md": "x",
                 "admission/model/job.hpp": '#include "admission/tables/row.hpp"\n'}
        status, output = self.run_on(rooms)
        self.assertEqual(status, 0, output)
        upwards = {**rooms, "admission/tables/row.hpp": '#include "admission/model/job.hpp"\n'}
        self.assert_found(upwards, "admission/tables/row.hpp:1:", "admission/tables includes", "allowed: admission/tables")
        attic = {**rooms, "admission/attic/README.md": "x", "admission/attic/old.hpp": '#include "admission/model/job.hpp"\n'}
        self.assert_found(attic, "admission/attic/old.hpp:1:", "no room 'attic'")

    def test_caf_outside_actors_is_found_also_in_tests(self):
        self.assert_found({"cli/main.cpp": "#include <caf/actor.hpp>\n"}, "cli/main.cpp:1:", "allowed only in: actors")
        self.assert_found({"tests/events/codec_test.cpp": "# include <caf/actor.hpp>\n"}, "tests/events/codec_test.cpp:1:")

    def test_libraries_in_the_pure_folders_are_found(self):
        headers = ["flatbuffers/flatbuffers.h", "curl/curl.h", "nlohmann/json.hpp", "simdjson.h", "librdkafka/rdkafka.h", "sqlite3.h"]
        for header in headers + ["caf/all.hpp", "unistd.h", "spdlog/spdlog.h"]:
            for file in ("vocabulary/amount.hpp", "admission/quota.cpp"):
                with self.subTest(header=header, file=file):
                    self.assert_found({file: f"#include <{header}>\n"}, f"{file}:1:", header)

    def test_an_include_that_is_not_written_from_the_root_is_found(self):
        self.assert_found({"admission/quota.cpp": '#include "quota_tree.hpp"\n'}, "not a file seen from the repository root")
        self.assert_found({"admission/quota.cpp": "#include <vocabulary/amount.hpp>\n"}, 'allowed: "vocabulary/amount.hpp"')

    def test_a_text_that_is_cut_by_bytes_is_found(self):
        for limit in ("cause_max", "200", "limits::key.size()", "4 * shortened_bytes", "name_bytes_max - 3"):
            with self.subTest(limit=limit):
                self.assert_found({"admission/quota.cpp": f"\nf(text.substr(0, {limit}));\n"}, "admission/quota.cpp:2:", "cut_text")
        for border in ("slash", "text.find('/')", "5", "c.size == 0 ? 1 : c.size"):
            with self.subTest(border=border):
                status, output = self.run_on({"admission/quota.cpp": f"f(text.substr(0, {border}));\n"})
                self.assertEqual(status, 0, output)

    def test_a_folder_without_readme_is_found(self):
        self.assert_found({"admission/README.md": None}, "admission/: no README.md")
        self.assert_found({"events/log/store.cpp": "#include <string>\n"}, "events/log/: no README.md")
        self.assert_found({"deploy/crds/x.yaml": "a: 1\n"}, "deploy/: no README.md")


if __name__ == "__main__":
    unittest.main()
