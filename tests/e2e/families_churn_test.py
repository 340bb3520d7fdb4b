#!/usr/bin/env python3
"""Families of concurrent admission in constant change on a real API server, while Hindsight is killed in the middle of migrations.

usage: families_churn_test.py HINDSIGHT LOG_INVARIANTS [--families N] [--kills N] [--minutes M] [--seed S]

Jobs come, finish, are deleted and get other priorities; quota of flavors is raised and lowered, policies change, a check is added to flavors and
answered late, with Retry or Rejected; Options are deleted by hand; concurrent admission is switched off and on, by the ClusterQueues and by the
feature gate. Every version of a Job or Workload that the API server has shown is judged: at most one Option of a family is admitted, no job runs
without one beyond the time of its stop, and no Option is left without its Parent. Now and then, and at the end, usage is what Options hold, and a fold
of the log says what the API server shows. Each migration has stopped its job once and started it once. For a long run: --families 300 --kills 30
--minutes 10.
CA-26, CA-41, CA-42, CA-43, CA-44, CA-61, CA-84, CA-100, CA-111, CA-112, CA-120, CA-125, CA-130, CA-131, CA-132, CA-133
"""
import argparse, random, sys, unittest

import family_churn, jobs_test, suspended_jobs_test

GATE = "featureGates: {ConcurrentAdmission: true}\n"
HEAD = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nnamespace: hindsight-system\n"


class FamiliesChurnTest(family_churn.Churn, suspended_jobs_test.Fixture):
    gates = {"ConcurrentAdmission": True}
    options = ("--nodes", "8")

    def test_families_in_constant_change(self):
        self.args, self.hindsight, self.kubeconfig = jobs_test.ARGS, jobs_test.ARGS.hindsight, self.cluster.kubeconfig
        seed = self.args.seed if self.args.seed is not None else random.randrange(1 << 32)
        print("seed", seed, flush=True)
        try:
            self.begin(seed)
            self.set_up_objects()
            self.churn()
            self.end_of_everything()
            self.assertEqual(self.controller.stop(), 0, "SIGTERM ends it with status 0")
            self.last_words()
            self.assertNotIn("was refused", self.said())
        except BaseException:
            self.keep(self.log)
            raise

    def logs(self):
        return [(["--log", "sqlite:" + self.log], None)]

    def kill(self, _):
        self.controller.kill()

    def start(self):
        self.controller.start()

    def check_processes(self):
        if self.controller.process.poll() is not None:
            raise RuntimeError("Hindsight has ended")

    def set_gate(self, on):
        path = self.controller.words[self.controller.words.index("--config") + 1]
        with open(path, "w", encoding="utf-8") as out:
            out.write(HEAD + (GATE if on else ""))
        self.restart()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hindsight")
    parser.add_argument("invariants")
    family_churn.add_options(parser, 30, 5, 0.3)
    jobs_test.ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
