"""For each alert: series with which it fires, and with which it does not.

A case: the alert; the series, as promtool writes values (`0x10` is 0 eleven times, a minute apart); the minute that is looked at; for each
alert that fires its labels (without alertname) and the summary that people see. No such: it does not fire.
"""

LEADER = 'hindsight_leader{job="hindsight",instance="a"}'
STANDBY = 'hindsight_leader{job="hindsight",instance="b"}'
CYCLES = 'kueue_admission_attempt_duration_seconds_bucket{job="hindsight",replica_role="leader",result="success",le="%s"}'


def case(alert, series, minute, *fires, **more):
    return {"alert": alert, "series": series, "minute": minute, "fires": fires, **more}


def of(severity, summary, **labels):
    return {"labels": {"severity": severity, **labels}, "summary": summary}


NO_LEADER = "No process of Hindsight has the Lease"
STOPPED = "Nothing is decided"
FULL = {"instance": "a"}

CASES = [
    case("HindsightNoLeader", {LEADER: "1x3 0x10", STANDBY: "0x14"}, 7, of("critical", NO_LEADER, job="hindsight")),
    case("HindsightNoLeader", {LEADER: "1x3 0x10", STANDBY: "0x3 1x10"}, 7),
    case("HindsightNoLeader", {LEADER: "1x3 0x1 1x10", STANDBY: "0x14"}, 7),
    case("HindsightNoLeader", {"up": "0x10"}, 7, of("critical", NO_LEADER)),

    case("HindsightDecisionsStopped", {'hindsight_deciding{job="hindsight"}': "1x3 0x12"}, 10, of("critical", STOPPED, job="hindsight")),
    case("HindsightDecisionsStopped", {'hindsight_deciding{job="hindsight"}': "1x3 0x3 1x12"}, 10),
    # Of a domain that another node decides too, until it is handed over.
    case("HindsightDecisionsStopped", {'hindsight_deciding{job="hindsight",instance="a",domain="d",partition="1"}': "0x15",
                                       'hindsight_deciding{job="hindsight",instance="b",domain="d",partition="1"}': "1x15"}, 10),
    case("HindsightDecisionsStopped", {'hindsight_deciding{job="hindsight",instance="a",domain="d",partition="1"}': "0x15"}, 10,
         of("critical", "Nothing is decided in domain d", job="hindsight", domain="d", partition="1")),
    # Something is under way, and nothing comes back from the log.
    case("HindsightDecisionsStopped", {'hindsight_inbox{job="hindsight"}': "7x30", 'hindsight_log_position{job="hindsight"}': "100x30"}, 20,
         of("critical", STOPPED, job="hindsight")),
    case("HindsightDecisionsStopped", {'hindsight_inbox{job="hindsight"}': "7x30", 'hindsight_log_position{job="hindsight"}': "100+5x30"}, 20),
    case("HindsightDecisionsStopped", {'hindsight_inbox{job="hindsight"}': "0x30", 'hindsight_log_position{job="hindsight"}': "100x30"}, 20),

    case("HindsightDecisionsSlow", {CYCLES % "1": "0+1x40", CYCLES % "2.5": "0+100x40", CYCLES % "+Inf": "0+100x40"}, 30,
         of("warning", "One of a hundred scheduling cycles takes 2.485s or more", job="hindsight")),
    case("HindsightDecisionsSlow", {CYCLES % "0.01": "0+100x40", CYCLES % "1": "0+100x40", CYCLES % "+Inf": "0+100x40"}, 30),

    case("HindsightClockStepped", {'hindsight_clock_steps_total{instance="a"}': "0x5 1x20"}, 8, of("warning", "The clock of a was set, or is wrong", instance="a")),
    case("HindsightClockStepped", {'hindsight_clock_steps_total{instance="a"}': "0x5 1x60"}, 50),
    case("HindsightClockStepped", {'hindsight_clock_machine_offset_seconds{instance="a"}': "-86400x5"}, 3, of("warning", "The clock of a was set, or is wrong", instance="a")),
    case("HindsightClockStepped", {'hindsight_clock_machine_offset_seconds{instance="a"}': "-0.02x5"}, 3),

    case("HindsightClusterOutOfReach", {'hindsight_api_server_reachable{instance="a"}': "1x3 0x10"}, 7, of("critical", "a gets no answer of the API server", instance="a")),
    case("HindsightClusterOutOfReach", {'hindsight_api_server_reachable{instance="a"}': "1x3 0x0 1x10"}, 7),

    case("HindsightWatchBroken", {'hindsight_watch_failing{instance="a",resource="workloads.kueue.x-k8s.io"}': "0x2 1x10", 'hindsight_watch_failing{instance="a",resource="pods"}': "0x12"}, 9,
         of("critical", "workloads.kueue.x-k8s.io can be neither listed nor watched", instance="a", resource="workloads.kueue.x-k8s.io")),
    case("HindsightWatchBroken", {'hindsight_watch_failing{instance="a",resource="pods"}': "0x2 1x2 0x10"}, 9),

    case("HindsightMirrorNotSynced", {'hindsight_mirror_synced{instance="a"}': "0x30"}, 16, of("critical", "The start of a does not end", instance="a")),
    case("HindsightMirrorNotSynced", {'hindsight_mirror_synced{instance="a"}': "0x10 1x20"}, 16),

    case("HindsightWritesRefused", {'hindsight_api_writes_refused_total{instance="a"}': "0+1x40"}, 35, of("warning", "The API server refused 30 writes in half an hour", instance="a")),
    case("HindsightWritesRefused", {'hindsight_api_writes_refused_total{instance="a"}': "0x35 2x5"}, 38),

    case("HindsightCertificateNearEnd", {'hindsight_certificate_expiry_timestamp_seconds{use="webhooks"}': "86400x20"}, 15,
         of("critical", "The certificate for webhooks ends in 23h 45m 0s", use="webhooks")),
    case("HindsightCertificateNearEnd", {'hindsight_certificate_expiry_timestamp_seconds{use="webhooks"}': "864000x20"}, 15),

    case("HindsightLogNearlyFull", {'hindsight_log_used_bytes{instance="a"}': "700+50x20", 'hindsight_log_limit_bytes{instance="a"}': "1000x20"}, 9, of("warning", "The log of a is nearly full", **FULL)),
    case("HindsightLogNearlyFull", {'hindsight_log_used_bytes{instance="a"}': "700x20", 'hindsight_log_limit_bytes{instance="a"}': "1000x20", 'hindsight_log_disk_free_bytes{instance="a"}': "9000000000x20"}, 9),
    case("HindsightLogNearlyFull", {'hindsight_log_disk_free_bytes{instance="a"}': "200000000x20"}, 9, of("warning", "The log of a is nearly full", **FULL)),

    case("HindsightLogFull", {'hindsight_log_full{instance="a"}': "0x3 1x5"}, 6, of("critical", "The log of a is full", **FULL)),
    case("HindsightLogFull", {'hindsight_log_full{instance="a"}': "0x3 1x0 0x5"}, 6),

    case("HindsightReplacedWriter", {'hindsight_stale_decisions{job="hindsight",replica_role="leader"}': "0x5 2x20"}, 8,
         of("warning", "A process that had been replaced wrote decisions", job="hindsight", replica_role="leader")),
    # What the log held before is folded at the start, and no news; and after half an hour it is none any more.
    case("HindsightReplacedWriter", {'hindsight_stale_decisions{job="hindsight",replica_role="leader"}': "_x5 2x20"}, 8),
    case("HindsightReplacedWriter", {'hindsight_stale_decisions{job="hindsight",replica_role="leader"}': "0x5 2x60"}, 50),

    case("HindsightSnapshotTooOld", {'hindsight_log_position{instance="a"}': "0+20000x40", 'hindsight_snapshot_position{instance="a"}': "50000x40"}, 35, of("warning", "No snapshot was stored for long", instance="a")),
    case("HindsightSnapshotTooOld", {'hindsight_log_position{instance="a"}': "0+20000x40", 'hindsight_snapshot_position{instance="a"}': "0+20000x40"}, 35),
    case("HindsightSnapshotTooOld", {'hindsight_snapshot_failures_total{instance="a",domain="d",partition="1"}': "0+1x40"}, 35,
         of("warning", "No snapshot was stored for long of domain d", instance="a", domain="d", partition="1")),
    case("HindsightSnapshotTooOld", {'hindsight_snapshot_failures_total{instance="a"}': "0x40"}, 35),

    case("HindsightLogBehind", {'hindsight_log_behind_seconds{instance="a"}': "0+60x20"}, 8, of("warning", "a is 8m 0s behind its log", instance="a")),
    case("HindsightLogBehind", {'hindsight_log_behind_seconds{instance="a"}': "0.1x20"}, 8),
    case("HindsightLogBehind", {'hindsight_log_behind_seconds{instance="a"}': "40x2 0.1x20"}, 8),

    case("HindsightRecordsNotRead", {'hindsight_quarantined_records{job="hindsight",replica_role="leader"}': "_x4 1x10"}, 6,
         of("critical", "A record of the log could not be applied", job="hindsight", replica_role="leader")),
    case("HindsightRecordsNotRead", {'hindsight_quarantined_records{job="hindsight",replica_role="leader"}': "1x90"}, 80),
    case("HindsightRecordsNotRead", {'hindsight_domain_restarts_total{job="hindsight",domain="d",partition="1"}': "0x4 1x10"}, 6,
         of("critical", "A record of the log could not be applied in domain d", job="hindsight", domain="d", partition="1")),
    case("HindsightRecordsNotRead", {'hindsight_domain_restarts_total{job="hindsight"}': "1x40"}, 30),

    case("HindsightQuarantineGrows", {'hindsight_quarantined_objects{job="hindsight",kind="Job",replica_role="leader"}': "_x4 3x10"}, 6,
         {"labels": {"severity": "warning", "job": "hindsight", "kind": "Job"}, "summary": "More objects of kind Job are set aside than half an hour ago",
          "description": "Now 3 of them have no effect, because they cannot be read or written. All others go on."}),
    case("HindsightQuarantineGrows", {'hindsight_quarantined_objects{job="hindsight",kind="Job",replica_role="leader"}': "3x60"}, 50),
    case("HindsightQuarantineGrows", {'hindsight_quarantined_objects{job="hindsight",kind="Job",replica_role="leader"}': "3x35 1x60"}, 50),

    case("HindsightPendingTooLong", {'hindsight_oldest_pending_timestamp_seconds{cluster_queue="gpu",replica_role="leader"}': "-172800x30"}, 20,
         of("info", "A Workload of ClusterQueue gpu waits for 2d 0h 20m 0s", cluster_queue="gpu", replica_role="leader")),
    case("HindsightPendingTooLong", {'hindsight_oldest_pending_timestamp_seconds{cluster_queue="gpu",replica_role="leader"}': "-3600x30"}, 20),
    case("HindsightPendingTooLong", {'hindsight_oldest_pending_timestamp_seconds{cluster_queue="gpu",replica_role="leader"}': "-172800x10 _x20"}, 25),
]


def expected(rule, fires):
    """One alert as promtool wants it named, with all of its annotations."""
    return {"exp_labels": fires["labels"],
            "exp_annotations": {**rule["annotations"], "summary": fires["summary"],
                                "description": fires.get("description", rule["annotations"]["description"])}}


def as_promtool(cases, rules, rule_file):
    by_name = {rule["alert"]: rule for rule in rules}
    return {"rule_files": [rule_file], "evaluation_interval": "1m", "tests": [
        {"interval": "1m", "name": f"{c['alert']} at minute {c['minute']}",
         "input_series": [{"series": s, "values": v} for s, v in c["series"].items()],
         "alert_rule_test": [{"eval_time": f"{c['minute']}m", "alertname": c["alert"], "exp_alerts": [expected(by_name[c["alert"]], f) for f in c["fires"]]}]}
        for c in cases]}
