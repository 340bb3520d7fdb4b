#!/usr/bin/env python3
"""Writes dashboards/*.json and prometheus-rule.yaml. usage: generate.py [FOLDER]

The dashboards are described here, a line for each panel; places in the grid, ids and everything that Grafana wants follow. FOLDER: where to,
else beside this file. tests/monitoring/dashboards_test.py compares what is there with what this writes.
"""
import json, os, sys

HERE = os.path.dirname(os.path.abspath(__file__))
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
# Of whatever Prometheus is asked: one with many clusters, or one that knows none by name.
HERE_ONLY = 'cluster=~"$cluster", namespace=~"$namespace"'
IN_QUEUE = HERE_ONLY + ', cluster_queue=~"$cluster_queue"'
WIDTH = 24


def target(expression, legend=""):
    return {"expr": expression, "legendFormat": legend or "__auto", "datasource": DATASOURCE, "editorMode": "code", "range": True}


def here(expression):
    """`%h` and `%q` stand for what the variables choose; a `%` of PromQL is never written."""
    return expression.replace("%h", HERE_ONLY).replace("%q", IN_QUEUE)


class Dashboard:
    def __init__(self, name, title, description, queues=False):
        self.name, self.title, self.description, self.queues = name, title, description, queues
        self.panels, self.x, self.y, self.height = [], 0, 0, 0

    def row(self, title):
        self.end_line()
        self.panels.append({"type": "row", "title": title, "collapsed": False, "panels": [], "gridPos": {"h": 1, "w": WIDTH, "x": 0, "y": self.y}})
        self.y += 1

    def end_line(self):
        self.y, self.x, self.height = self.y + self.height, 0, 0

    def add(self, kind, width, height, title, description, unit, targets, options, custom=None, thresholds=None, mappings=None):
        if self.x + width > WIDTH:
            self.end_line()
        steps = thresholds or [(None, "green")]
        defaults = {"unit": unit, "custom": custom or {}, "mappings": mappings or [], "color": {"mode": "thresholds" if thresholds or kind == "stat" else "palette-classic"},
                    "thresholds": {"mode": "absolute", "steps": [{"color": color, "value": value} for value, color in steps]}}
        panel = {"type": kind, "title": title, "description": description, "datasource": DATASOURCE, "fieldConfig": {"defaults": defaults, "overrides": []},
                 "gridPos": {"h": height, "w": width, "x": self.x, "y": self.y}, "options": options,
                 "targets": [{**target(here(e), legend), "refId": chr(ord("A") + i)} for i, (e, legend) in enumerate(targets)]}
        self.panels.append(panel)
        self.x, self.height = self.x + width, max(self.height, height)

    def stat(self, title, description, expression, unit="short", thresholds=None, words=None, width=4):
        mappings = [{"type": "value", "options": {str(v): {"text": text, "index": i} for i, (v, text) in enumerate((words or {}).items())}}] if words else []
        self.add("stat", width, 4, title, description, unit, [(expression, "")],
                 {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}, "colorMode": "background", "graphMode": "none", "textMode": "value",
                  "justifyMode": "center", "orientation": "auto"}, thresholds=thresholds, mappings=mappings)

    def lines(self, title, description, targets, unit="short", width=12, height=8, stacked=False, least=None):
        custom = {"drawStyle": "line", "lineWidth": 1, "fillOpacity": 20 if stacked else 0, "showPoints": "never", "spanNulls": False,
                  "stacking": {"mode": "normal" if stacked else "none", "group": "A"}}
        if least is not None:
            custom["axisSoftMin"] = least
        self.add("timeseries", width, height, title, description, unit, targets,
                 {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []}, "tooltip": {"mode": "multi", "sort": "desc"}}, custom=custom)

    def table(self, title, description, expression, unit="short", width=12, height=8):
        self.add("table", width, height, title, description, unit, [(expression, "")], {"showHeader": True, "cellHeight": "sm", "sortBy": [{"displayName": "Value", "desc": True}]})
        panel = self.panels[-1]
        panel["targets"][0].update({"instant": True, "range": False, "format": "table"})
        panel["transformations"] = [{"id": "organize", "options": {"excludeByName": {"Time": True}, "indexByName": {}, "renameByName": {}}}]

    def variables(self):
        def query(name, label, expression):
            return {"name": name, "label": label, "type": "query", "datasource": DATASOURCE, "definition": expression, "query": {"query": expression, "refId": name},
                    "includeAll": True, "allValue": ".*", "multi": True, "refresh": 2, "sort": 1, "hide": 0, "options": [], "current": {"text": ["All"], "value": ["$__all"]}}

        out = [{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus", "refresh": 1, "hide": 0, "includeAll": False, "multi": False, "options": [], "current": {}},
               query("cluster", "Cluster", "label_values(hindsight_log_position, cluster)"),
               query("namespace", "Namespace", 'label_values(hindsight_log_position{cluster=~"$cluster"}, namespace)')]
        if self.queues:
            out.append(query("cluster_queue", "ClusterQueue", f"label_values(kueue_cluster_queue_info{{{HERE_ONLY}}}, cluster_queue)"))
        return out

    def json(self):
        self.end_line()
        for number, panel in enumerate(self.panels, 1):
            panel["id"] = number
        return {"uid": "hindsight-" + self.name, "title": "Hindsight / " + self.title, "description": self.description, "tags": ["hindsight", "kueue"],
                "schemaVersion": 38, "version": 1, "editable": True, "graphTooltip": 1, "refresh": "30s", "timezone": "browser", "id": None, "style": "dark",
                "time": {"from": "now-6h", "to": "now"}, "timepicker": {}, "fiscalYearStartMonth": 0, "liveNow": False, "weekStart": "",
                "annotations": {"list": [{"builtIn": 1, "datasource": {"type": "grafana", "uid": "-- Grafana --"}, "enable": True, "hide": True, "iconColor": "rgba(0, 211, 255, 1)",
                                          "name": "Annotations & Alerts", "type": "dashboard"}]},
                "links": [{"title": "Hindsight", "type": "dashboards", "tags": ["hindsight"], "asDropdown": True, "includeVars": True, "keepTime": True, "targetBlank": False, "icon": "external link",
                           "tooltip": "", "url": ""}],
                "templating": {"list": self.variables()}, "panels": self.panels}


GOOD_IF_ONE = [(None, "red"), (1, "green")]
GOOD_IF_NONE = [(None, "green"), (1, "red")]
ODD_IF_ANY = [(None, "green"), (1, "orange")]


def quantiles(name, by=(), window="$__rate_interval", where="%h", shares=(0.5, 0.99)):
    labels = ", ".join(("le", *by))
    legend = " ".join("{{%s}}" % b for b in by)
    return [(f"histogram_quantile({q}, sum by ({labels}) (rate({name}_bucket{{{where}}}[{window}])))", f"p{q * 100:g} {legend}".strip()) for q in shares]


def overview():
    d = Dashboard("overview", "Overview", "Is it healthy, how fast does it decide, how large is its log, and does it reach its cluster?")
    d.row("Health")
    d.stat("Leader", "Does a process have the Lease?", "max(hindsight_leader{%h})", thresholds=GOOD_IF_ONE, words={0: "none", 1: "one"})
    d.stat("Deciding", "Does every domain have a process that decides it?", "min(max by (partition, domain) (hindsight_deciding{%h}))", thresholds=GOOD_IF_ONE, words={0: "no", 1: "yes"})
    d.stat("API server", "Does every process get answers?", "min(hindsight_api_server_reachable{%h})", thresholds=GOOD_IF_ONE, words={0: "away", 1: "answers"})
    d.stat("Kinds that cannot be read", "Kinds of objects that can be neither listed nor watched now.", "sum(hindsight_watch_failing{%h})", thresholds=GOOD_IF_NONE)
    d.stat("Set aside", "Objects and records that have no effect, because they cannot be read or written.",
           "(sum(hindsight_quarantined_objects{%h}) or vector(0)) + (sum(hindsight_quarantined_records{%h}) or vector(0))", thresholds=ODD_IF_ANY)
    d.stat("Log in use", "Of its limit; nothing is shown without a limit.", "max(hindsight_log_used_bytes{%h} / hindsight_log_limit_bytes{%h})", unit="percentunit",
           thresholds=[(None, "green"), (0.8, "orange"), (0.95, "red")])
    d.row("Work")
    d.lines("Workloads", "Those that wait, that hold quota, and that run.",
            [("sum by (status) (kueue_pending_workloads{%h})", "pending, {{status}}"), ("sum(kueue_reserving_active_workloads{%h})", "hold quota"), ("sum(kueue_admitted_active_workloads{%h})", "admitted")], least=0)
    d.lines("Admitted and finished", "A second, over the last minutes.",
            [("sum(rate(kueue_admitted_workloads_total{%h}[$__rate_interval]))", "admitted"), ("sum(rate(kueue_finished_workloads_total{%h}[$__rate_interval]))", "finished"),
             ("sum(rate(kueue_evicted_workloads_total{%h}[$__rate_interval]))", "evicted")], unit="ops", least=0)
    d.lines("How long a cycle takes", "On the clock of the machine, from the question who comes next to the decision.", quantiles("kueue_admission_attempt_duration_seconds", ("result",)), unit="s", least=0)
    d.lines("Cycles", "A second, by whether anybody got quota.", [("sum by (result) (rate(kueue_admission_attempts_total{%h}[$__rate_interval]))", "{{result}}")], unit="ops", least=0)
    d.row("Log")
    d.lines("Records", "A second, of each domain.", [("sum by (partition, domain) (rate(hindsight_log_position{%h}[$__rate_interval]))", "records {{domain}}")], unit="ops", least=0)
    d.lines("Size of the log", "Its content, its files, its limit, and what the disk still gives.",
            [("sum(hindsight_log_used_bytes{%h})", "content"), ("sum(hindsight_log_files_bytes{%h})", "files"), ("sum(hindsight_log_limit_bytes{%h})", "limit"), ("min(hindsight_log_disk_free_bytes{%h})", "free on the disk")],
            unit="bytes", least=0)
    d.row("API server")
    d.lines("Requests", "A second: answers, requests without an answer, writes that were sent once more, and writes that were refused.",
            [("sum(rate(hindsight_api_answers_total{%h}[$__rate_interval]))", "answers"), ("sum(rate(hindsight_api_connection_errors_total{%h}[$__rate_interval]))", "no answer"),
             ("sum(rate(hindsight_api_write_retries_total{%h}[$__rate_interval]))", "sent once more"), ("sum(rate(hindsight_api_writes_refused_total{%h}[$__rate_interval]))", "refused")], unit="ops", width=8, least=0)
    d.lines("Writes", "To objects, a second, and those that met another change.",
            [("sum(rate(hindsight_writes_total{%h}[$__rate_interval]))", "writes"), ("sum(rate(hindsight_write_conflicts_total{%h}[$__rate_interval]))", "conflicts")], unit="ops", width=8, least=0)
    d.lines("What waits", "Writes that are wanted and not done, requests that wait to be sent, events of watches.",
            [("sum(hindsight_intents_outstanding{%h})", "writes wanted"), ("sum(hindsight_api_requests_waiting{%h})", "requests to be sent"), ("sum(hindsight_watch_events_waiting{%h})", "events of watches"),
             ("sum(hindsight_inbox{%h})", "records under way")], width=8, least=0)
    d.row("Clocks and certificates")
    d.lines("Clocks", "The clock of the machine and of the API server, less the time that counts.",
            [("hindsight_clock_machine_offset_seconds{%h}", "{{instance}}"), ("hindsight_clock_api_server_offset_seconds{%h}", "API server, seen by {{instance}}"),
             ("hindsight_log_clock_ahead_seconds{%h}", "log, of {{instance}}")], unit="s")
    d.lines("Certificates", "How long they still last.", [("min by (use) (hindsight_certificate_expiry_timestamp_seconds{%h}) - time()", "{{use}}")], unit="s", least=0)
    return d


def queues():
    d = Dashboard("queues", "Queues", "Who waits and for how long, who runs, and how much of the quota is used. The panels of quota need metrics.enableClusterQueueResources.", queues=True)
    d.row("Workloads")
    d.lines("Pending", "Active: tried in the next cycle. Inadmissible: parked until something changes.", [("sum by (cluster_queue, status) (kueue_pending_workloads{%q})", "{{cluster_queue}}, {{status}}")], least=0)
    d.lines("Admitted", "That have not finished.", [("sum by (cluster_queue) (kueue_admitted_active_workloads{%q})", "{{cluster_queue}}")], least=0, stacked=True)
    d.lines("Why they wait", "Workloads that are not admitted, by reason.", [("sum by (reason, underlying_cause) (kueue_unadmitted_workloads{%q})", "{{reason}} {{underlying_cause}}")], least=0, stacked=True)
    d.table("Who waits longest", "How long the Workload waits that waits longest, in each queue.", "time() - max by (cluster_queue) (hindsight_oldest_pending_timestamp_seconds{%q})", unit="s")
    d.row("Waiting times")
    d.lines("Until admission", "From queueing to admission.", quantiles("kueue_admission_wait_time_seconds", ("cluster_queue",), where="%q"), unit="s", least=0)
    d.lines("Until quota", "From queueing to the reservation of quota.", quantiles("kueue_quota_reserved_wait_time_seconds", ("cluster_queue",), where="%q"), unit="s", least=0)
    d.lines("For admission checks", "From the reservation of quota to admission.", quantiles("kueue_admission_checks_wait_time_seconds", ("cluster_queue",), where="%q"), unit="s", least=0)
    d.lines("Until all pods are ready", "From admission; with waitForPodsReady.", quantiles("kueue_admitted_until_ready_wait_time_seconds", ("cluster_queue",), where="%q"), unit="s", least=0)
    d.row("Quota")
    d.lines("Quota in use", "Of the nominal quota; more than 100 % is borrowed.",
            [("sum by (cluster_queue, resource) (kueue_cluster_queue_resource_usage{%q}) / sum by (cluster_queue, resource) (kueue_cluster_queue_nominal_quota{%q})", "{{cluster_queue}}, {{resource}}")], unit="percentunit", least=0)
    d.lines("Asked for and not there", "What pending Workloads ask for.", [("sum by (cluster_queue, resource) (kueue_cluster_queue_resource_pending{%q})", "{{cluster_queue}}, {{resource}}")], least=0)
    d.lines("Use by flavor", "Quota that admitted Workloads use, and the nominal quota.",
            [("sum by (flavor, resource) (kueue_cluster_queue_resource_usage{%q})", "{{flavor}}, {{resource}}"), ("sum by (flavor, resource) (kueue_cluster_queue_nominal_quota{%q})", "nominal, {{flavor}}, {{resource}}")], least=0)
    d.lines("Cohorts", "Quota of a cohort that is reserved, of its quota.",
            [("sum by (cohort, resource) (kueue_cohort_subtree_resource_reservations{%h}) / sum by (cohort, resource) (kueue_cohort_subtree_quota{%h})", "{{cohort}}, {{resource}}")], unit="percentunit", least=0)
    d.row("Fairness")
    d.lines("Share of a ClusterQueue", "Dominant resource share, with fair sharing: the larger, the sooner others go first.", [("max by (cluster_queue) (kueue_cluster_queue_weighted_share{%q})", "{{cluster_queue}}")], width=8, least=0)
    d.lines("Share of a cohort", "The same of cohorts.", [("max by (cohort) (kueue_cohort_weighted_share{%h})", "{{cohort}}")], width=8, least=0)
    d.lines("Use of LocalQueues", "What admission fair sharing compares.", [("max by (exported_namespace, name) (kueue_local_queue_admission_fair_sharing_usage{%q})", "{{name}}")], width=8, least=0)
    d.row("State")
    d.table("Queues that are not active", "And what they are instead.", 'max by (cluster_queue, status) (kueue_cluster_queue_status{%q, status!="active"}) == 1')
    d.lines("Held back by gates", "Jobs and Workloads that an annotation holds back.", [("sum by (contract, kind) (kueue_gated_jobs{%h})", "{{contract}}, {{kind}}")], least=0)
    return d


def preemption():
    d = Dashboard("preemption", "Preemption and evictions", "Who lost its place, why, and how long it took until the quota was free.", queues=True)
    d.row("Preemption")
    d.lines("Preemptions", "A minute, by the queue that preempts and by reason.",
            [('60 * sum by (preempting_cluster_queue, reason) (rate(kueue_preempted_workloads_total{%h, preempting_cluster_queue=~"$cluster_queue"}[$__rate_interval]))', "{{preempting_cluster_queue}}, {{reason}}")], least=0)
    d.lines("Entries that were put off", "Of the last cycle: they would have preempted, had no earlier entry been in the way.", [("sum by (cluster_queue) (kueue_admission_cycle_preemption_skips{%q})", "{{cluster_queue}}")], least=0)
    d.lines("Victims chosen anew", "A minute, by what came of it.", [("60 * sum by (result) (rate(kueue_preemption_target_recomputations_total{%q}[$__rate_interval]))", "{{result}}")], least=0)
    d.lines("Admissions withheld", "A minute: there was room, but the next cycle would have taken it back.", [("60 * sum by (cluster_queue) (rate(hindsight_admissions_withheld_total{%q}[$__rate_interval]))", "{{cluster_queue}}")], least=0)
    d.stat("Pairs left alone", "Of which one preempts the other no more, because it came back each time.", "max(hindsight_repeated_preemptions{%h})", thresholds=ODD_IF_ANY, width=6)
    d.stat("Steps that only repeat", "That were not recorded. Any is a mistake in a rule.", "sum(hindsight_repeated_steps_total{%h})", thresholds=ODD_IF_ANY, width=6)
    d.row("Evictions")
    d.lines("Evictions", "A minute, by reason and cause.", [("60 * sum by (reason, underlying_cause) (rate(kueue_evicted_workloads_total{%q}[$__rate_interval]))", "{{reason}} {{underlying_cause}}")], least=0)
    d.lines("Workloads evicted for the first time", "A minute, by reason.", [("60 * sum by (reason) (rate(kueue_evicted_workloads_once_total{%q}[$__rate_interval]))", "{{reason}}")], least=0)
    d.lines("Until quota is free", "From the eviction to the release of quota.", quantiles("kueue_workload_eviction_latency_seconds", ("reason",), where="%q"), unit="s", least=0)
    d.lines("How long they had run", "From all pods ready to the eviction.", quantiles("kueue_pods_ready_to_evicted_time_seconds", ("reason",), where="%q"), unit="s", least=0)
    d.row("Elastic jobs and several flavors at once")
    d.lines("Slices replaced", "A minute.", [("60 * sum by (cluster_queue) (rate(kueue_replaced_workload_slices_total{%q}[$__rate_interval]))", "{{cluster_queue}}")], width=8, least=0)
    d.lines("Moves to a better flavor", "A minute, with concurrent admission.",
            [("60 * sum by (from_flavor, to_flavor) (rate(kueue_concurrent_admission_migrations_total{%q}[$__rate_interval]))", "{{from_flavor}} to {{to_flavor}}")], width=8, least=0)
    d.lines("Options", "Of families, by state.", [("sum by (state) (kueue_concurrent_admission_options{%q})", "{{state}}")], width=8, least=0, stacked=True)
    return d


def log():
    d = Dashboard("log", "Log and replication", "The log of each domain, who reads it and how far behind, and the nodes of a fleet.")
    d.row("Who decides")
    d.table("Epochs", "Of each domain. A new one begins with each process that takes a domain.", "max by (partition, domain) (hindsight_epoch{%h})", width=8)
    d.lines("Deciding", "1 where a process decides a domain.", [("sum by (instance) (hindsight_deciding{%h})", "{{instance}}")], width=8, least=0)
    d.lines("Decisions", "Steps a second, of each process.", [("sum by (instance) (rate(hindsight_decisions_total{%h}[$__rate_interval]))", "{{instance}}")], unit="ops", width=8, least=0)
    d.row("Positions")
    d.lines("Position", "Of the record applied last, of each process and domain.", [("hindsight_log_position{%h}", "{{instance}} {{domain}}")], least=0)
    d.lines("Records behind the first", "How many records others have applied that this process has not.",
            [("max by (cluster, namespace, partition, domain) (hindsight_log_position{%h}) - on (cluster, namespace, partition, domain) group_right () hindsight_log_position{%h}", "{{instance}} {{domain}}")], least=0)
    d.lines("Behind the log", "How long ago a process had last read its log to the end.", [("hindsight_log_behind_seconds{%h}", "{{instance}} {{domain}}")], unit="s", least=0)
    d.lines("Under way", "Records on their way to the log and back.", [("hindsight_inbox{%h}", "{{instance}} {{domain}}")], least=0)
    d.row("Snapshots and room")
    d.lines("Records behind the newest snapshot", "What a start has to fold.", [("hindsight_log_position{%h} - hindsight_snapshot_position{%h}", "{{instance}} {{domain}}")], width=8, least=0)
    d.lines("Snapshots that failed", "An hour.", [("sum by (instance) (increase(hindsight_snapshot_failures_total{%h}[1h]))", "{{instance}}")], width=8, least=0)
    d.lines("Room", "Content of the log, its limit, what the disk still gives.",
            [("hindsight_log_used_bytes{%h}", "content, {{instance}}"), ("hindsight_log_limit_bytes{%h}", "limit, {{instance}}"), ("hindsight_log_disk_free_bytes{%h}", "free, {{instance}}")], unit="bytes", width=8, least=0)
    d.row("Fleet")
    d.lines("Partitions", "Of each node: those that are its own, and those of them whose log is open.",
            [("hindsight_partitions_wanted{%h}", "own, {{instance}}"), ("hindsight_partitions_open{%h}", "open, {{instance}}")], width=8, least=0)
    d.lines("Standing by", "Domains of other nodes that a node follows, and those read to the end.",
            [("hindsight_standby_domains{%h}", "followed, {{instance}}"), ("hindsight_standby_domains_ready{%h}", "ready, {{instance}}")], width=8, least=0)
    d.lines("Trouble", "Domains built again, decisions of replaced writers, records set aside, steps that only repeat.",
            [("sum(increase(hindsight_domain_restarts_total{%h}[1h]))", "built again in an hour"), ("max(hindsight_stale_decisions{%h})", "decisions of replaced writers"),
             ("max(hindsight_quarantined_records{%h})", "records set aside"), ("sum(increase(hindsight_repeated_steps_total{%h}[1h]))", "repeated steps in an hour")], width=8, least=0)
    d.row("Mirror of the cluster")
    d.lines("Objects", "Of each kind that is watched.", [("max by (resource) (hindsight_mirror_objects{%h})", "{{resource}}")], least=0)
    d.lines("Lists and watches that failed", "A minute, by kind.", [("60 * sum by (resource) (rate(hindsight_watch_failures_total{%h}[$__rate_interval]))", "{{resource}}")], least=0)
    return d


def prometheus_rule(folder):
    """The plain file as an object of the Prometheus operator: its text is taken over line by line, with its comments left out."""
    with open(os.path.join(HERE, "rules", "hindsight.yaml"), encoding="utf-8") as file:
        lines = [line for line in file.read().splitlines() if not line.startswith("#")]
    head = ["# Made by generate.py of rules/hindsight.yaml. Do not edit.", "apiVersion: monitoring.coreos.com/v1", "kind: PrometheusRule", "metadata:", "  name: hindsight",
            "  namespace: hindsight-system", "  labels: {app.kubernetes.io/name: hindsight}", "spec:"]
    with open(os.path.join(folder, "prometheus-rule.yaml"), "w", encoding="utf-8") as out:
        out.write("\n".join(head + ["  " + line if line else line for line in lines]) + "\n")


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else HERE
    os.makedirs(os.path.join(folder, "dashboards"), exist_ok=True)
    for dashboard in (overview(), queues(), preemption(), log()):
        with open(os.path.join(folder, "dashboards", dashboard.name + ".json"), "w", encoding="utf-8") as out:
            out.write(json.dumps(dashboard.json(), indent=2, ensure_ascii=False) + "\n")
    prometheus_rule(folder)


if __name__ == "__main__":
    main()
