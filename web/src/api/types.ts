// What the API of the page answers (docs/api.md). Every answer under /api/v1 that was asked for a moment carries where it was taken.
//
// Queries of all views: `at` (a position, or "latest"; default latest), `domain` (needed if the log has several), `branch` (look at a branch
// instead of what was). Amounts come twice where they are drawn: `text` is the Kubernetes quantity, `value` a number in milli-units.

export interface Place {
  position: number;
  time: string; // RFC 3339, microseconds, UTC
}

export interface ApiError {
  error: { status: number; message: string; remedy?: string };
}

export interface ObjectRef {
  kind: string; // Workload, ClusterQueue, LocalQueue, Cohort, Topology, Node, AdmissionCheck, ResourceFlavor, Job, ...
  namespace?: string;
  name: string;
  hidden?: boolean; // of a namespace that the caller may not see; `name` is no name then
}

// GET log
export interface LogInfo {
  name: string; // what people call it: a file, or topic and partition
  kind: 'sqlite' | 'kafka';
  live: boolean; // whether this process decides, or follows a writer
  domains: string[];
  domain?: string; // the one that is looked at
  first: Place;
  latest: Place;
  release: string;
  seesAll: boolean; // whether the caller may see all namespaces
  canBranch: boolean;
}

// GET live: server-sent events. "latest" carries a Place, at most four a second; "index" carries { scannedTo, of }: how far the timeline is
// read; "branch" carries a Branch whose state changed.

// GET timeline?from=&to=&buckets=  (from and to: positions; buckets 1..2000). Columns of equal stretches of time.
export interface Timeline {
  from: Place;
  to: Place;
  complete: boolean; // false while the log is still read; ask again on "index"
  scannedTo: number;
  exact: boolean; // false: drawn from samples (a coarse picture at once), columns may change
  time: number[]; // microseconds since 1970: beginning of each column
  position: number[]; // of the last row of the index that ends in the column or before it: what stands beside it was so there
  used: (number | null)[]; // per mille of nominal, the resource that is used most
  waiting: (number | null)[];
  running: (number | null)[];
  admitted: number[]; // how often in the column
  evicted: number[];
  decisions: number[];
  resources: { flavor: string; resource: string; used: (number | null)[]; nominal: (number | null)[] }[]; // milli-units, at most 8
  marks: Mark[]; // at most 400: near ones of a kind are one with a count
  silences: { from: number; to: number }[]; // microseconds: nobody decided (from the end of an epoch to the begin of the next)
  whyNotMore?: string; // what keeps the index from reading on, as a record that nobody can read; it ends at scannedTo
}
export interface Mark {
  kind: 'eviction' | 'configuration' | 'epoch' | 'refusal' | 'quarantine';
  time: number; // microseconds
  position: number; // of the first
  count: number;
  text: string;
}

// GET moment?text=  anything people type: now, -1d, 14:03, "2026-01-06 14:03", a position; &tz= the zone of a time that names none: "UTC"
// (as without it), or its distance from UTC at that moment, "+02:00". Answers a Place.
// GET step?from=&direction=forward|back&by=record|decision|event&object=KIND/[NS/]NAME&times=
export interface Step extends Place {
  text: string; // one line: what happened there
  end: boolean; // there was no further one: this is the last, or where one began
  scannedTo?: number; // the search took too long and ended here; `found` so many were on the way. Ask on with from=scannedTo
  found?: number;
}

// GET overview
export interface Overview extends Place {
  waiting: { count: number; curve: Curve };
  oldestWait: { milliseconds: number; workload?: ObjectRef; curve: Curve };
  used: { perMille: number; resource: string; flavor: string; curve: Curve };
  evicted: { lastHour: number | null; curve: Curve }; // null: not known, as in a log that is too long to look at without its index
  attention: Attention[]; // what matters most first, at most 50
  attentionLeftOut: number;
  queues: number;
  workloads: { total: number; pending: number; reserved: number; admitted: number; finished: number; inactive: number };
}
export type Curve = { time: number[]; value: (number | null)[] }; // the hour before the moment, at most 60 points
export interface Attention {
  kind: 'longWait' | 'queueCannotAdmit' | 'neverFits' | 'mutualPreemption' | 'checkHangs' | 'unusedQuota' | 'quarantined' | 'setAside';
  sentence: string;
  objects: ObjectRef[];
  since?: string;
}

// GET cohorts: trees; a ClusterQueue without a cohort is a root
export interface Cohorts extends Place {
  roots: TreeNode[];
}
export interface TreeNode {
  kind: 'Cohort' | 'ClusterQueue';
  name: string;
  waiting: number;
  admitted: number;
  active: boolean;
  share?: string; // weighted share, with fair sharing
  quota: QuotaBar[];
  children: TreeNode[];
}
export interface QuotaBar {
  flavor: string;
  resource: string;
  nominal: Amount;
  used: Amount; // of the whole subtree
  own: Amount; // of it within the nominal quota
  borrowed: Amount;
  lent: Amount; // nominal quota that others use
  limit?: Amount; // nominal and borrowing limit; absent: without end
}
export interface Amount {
  text: string;
  value: number;
}
// GET cohorts/users : for the treemap
export interface QueueUsers extends Place {
  flavor: string;
  resource: string;
  queues: { name: string; cohort?: string; users: { workload: ObjectRef; used: Amount }[]; leftOut: number }[];
}

// GET queues/{name}?limit=&offset=
export interface Queue extends Place {
  object: unknown; // the ClusterQueue as docs/objects.md says
  waiting: number;
  rows: QueueRow[]; // from place `offset` on; the next page begins at the last row's place + 1 + alike
  hidden: number; // of those on the way, in namespaces that the caller may not see
  quotaEndsAfter?: number; // index in the queue: those before it would fit now, one after the other
  users: QueueRow[]; // who holds quota, at most 200
  usersLeftOut: number;
  usersHidden: number;
}
export interface QueueRow {
  workload: ObjectRef;
  job?: ObjectRef;
  localQueue: string;
  place: number; // from 0
  priority: number;
  since: string; // waits, or holds quota, since
  asks: { resource: string; amount: Amount }[];
  reason: string; // WaitingForQuota, ...
  sentence: string;
  parked: boolean;
  alike?: number; // so many behind it are equal in all that counts, and folded
}

// GET workloads?phase=&queue=&namespace=&text=&sort=&descending=&limit=&offset=
export interface Workloads extends Place {
  total: number; // that match
  all: number;
  hidden: number; // in namespaces that the caller may not see
  items: WorkloadRow[];
}
export interface WorkloadRow {
  namespace: string;
  name: string;
  job?: ObjectRef;
  queue: string; // LocalQueue
  clusterQueue: string;
  phase: 'Pending' | 'QuotaReserved' | 'Admitted' | 'Evicted' | 'Finished' | 'Inactive';
  reason: string;
  priority: number;
  created: string;
  since?: string; // in this phase
  asks: { resource: string; amount: Amount }[];
}

// GET workloads/{namespace}/{name}
export interface WorkloadView extends Place {
  object: unknown; // docs/objects.md, as `get -o json` gives it; null if it is not there
  exists: 'yes' | 'notYet' | 'gone';
  appears?: Place; // notYet: the first record about it
  ended?: Place; // gone: the record that says so, if it is known
  lanes: Lane[];
  place: Curve; // position in its queue while it waited
  story: StoryLine[]; // `hindsight history`, short; the last 500 lines
  storyLeftOut?: number;
  storyIsWhole?: boolean; // false: decisions only, since all of it would take too long
  pods: { name: string; podSet: string; phase: string; node?: string }[];
  podsLeftOut: number;
}
export interface Lane {
  name: string; // "wait", "quota", "checks", "running", "evicted"; of slices and Options their names
  of?: ObjectRef;
  spans: { kind: string; from: number; to: number; position: number; text: string; open?: boolean }[]; // microseconds
  leftOut?: number; // spans before these
}
export interface StoryLine {
  position: number;
  time: string;
  text: string;
  source: 'observed' | 'decided' | 'noted';
  kind: string;
  times: number;
  base?: number;
}
// GET workloads/{namespace}/{name}/why        facts only
// GET workloads/{namespace}/{name}/why?plays=true   with remedies, as `hindsight why -o json`
export type Why = Record<string, unknown>;
// GET clusterqueues/{name}/why: as `hindsight why clusterqueue/NAME -o json`

// GET preemptions?from=&to=&limit=  (positions)
export interface Preemptions {
  from: Place;
  to: Place;
  items: Preemption[]; // in the order of the log: the newest `limit` of them
  leftOut: number; // older ones
  hidden: number; // of which neither side may be seen
  next?: number; // so much was read for one answer; go on from here. Absent: up to `to`
}
export interface Preemption extends Place {
  preemptor: ObjectRef;
  preemptorQueue: string;
  victim: ObjectRef;
  victimQueue: string;
  reason: string;
  lostMicros?: number;
}
// GET decisions/{position}?workload=  as `hindsight how -o json`
export type How = Record<string, unknown>;

// GET topologies
export interface Topologies extends Place {
  items: { name: string; levels: string[]; nodes: number; ready: number; used: { resource: string; used: Amount; capacity: Amount }[] }[];
}
// GET topologies/{name}?workload=NS/NAME&requests=&under=  (under: values from the top, as block-1/rack-2: only what is below that)
export interface TopologyMap extends Place {
  name: string;
  levels: string[];
  resources: string[];
  domains: DomainNode[]; // the topmost level; at most 20,000 in all: levels that do not fit whole are left out
  leftOut: number; // domains; ask with `under` for them
  pod: string; // what `freeBySize` counts, in words: that of `requests`, or one that was chosen
  freeBySize: { level: string; sizes: { pods: number; domains: number }[] }[]; // so many domains have room for so many pods, or more
}
export interface DomainNode {
  name: string;
  used: number[]; // per mille, by resource
  ready: boolean;
  gang?: number; // pods of the workload that was asked for
  children?: DomainNode[];
}
// GET topologies/{name}/fit?pods=&requests=cpu=1,memory=2Gi&level=&mode=required|preferred|unconstrained&flavor=
export interface Fit extends Place {
  fits: boolean;
  sentence: string;
  flavor?: string; // by which they fit
  domains: { path: string[]; pods: number }[];
  leftOut?: number;
}

// GET compare?a=&b=&limit=  positions; &branch= : b is of this branch. The biggest effect (0 to 1000) first
export interface Compare {
  a: Place;
  b: Place;
  items: { object: ObjectRef; sentence: string; effect: number; changes: { field: string; before?: string; after?: string }[]; changesLeftOut?: number }[];
  leftOut: number;
  hidden: number; // of namespaces that the caller may not see
}

// GET records?from=&direction=forward|back&limit=&filter=  filter: words as kind:Decisions object:team-a/train event:WorkloadPreempted
export interface Records {
  items: RecordLine[];
  next?: number; // go on from here; absent: the end
  scanned: number;
}
export interface RecordLine extends Place {
  kind: string;
  source: 'observed' | 'decided' | 'noted' | 'log';
  object?: ObjectRef;
  text: string;
  base?: number; // position of the record that a decision was made on
  bytes: number;
  setAside?: boolean; // no reader obeys it
}
// GET records/{position}
export interface RecordView extends RecordLine {
  fields?: unknown; // decoded, as `hindsight log cat -o json`; absent: it cannot be read, and was set aside. `eventsLeftOut` of very long ones
  followedBy: RecordLine[]; // decisions whose base is this record or lies right behind it; at most 20
}

// GET objects/{kind}?text=&limit=&offset=  kind: localqueues, clusterqueues, cohorts, resourceflavors, topologies, admissionchecks,
// workloadpriorityclasses; by name
export interface ConfigObjects extends Place {
  items: ConfigObject[];
  total: number; // that match
  hidden: number; // LocalQueues in namespaces that the caller may not see
}
export interface ConfigObject {
  ref: ObjectRef;
  object: unknown; // as docs/objects.md says
  usedBy: ObjectRef[]; // those that name it
  usedByLeftOut: number;
  workloads?: number; // of a WorkloadPriorityClass: how many have it
}
// GET objects/{kind}/{name}, objects/localqueues/{namespace}/{name}
export interface OneConfigObject extends ConfigObject, Place {
  nodes?: ConfigNode[]; // of a ResourceFlavor: that have its labels, at most 500
  nodesLeftOut?: number;
  nodesWatched?: boolean; // false: no node is on record, because nothing is placed by topology
}
export interface ConfigNode {
  name: string;
  ready: boolean;
  unschedulable: boolean;
  labels: Record<string, string>;
  taints: { key: string; value: string; effect: string }[];
  allocatable: { resource: string; amount: Amount }[];
}

// GET search?q=&limit=
export interface Search extends Place {
  items: { object: ObjectRef; hint: string; view: string }[]; // view: the page's address below #, without the moment
}

// GET fleet
export interface Fleet extends Place {
  epochs: { epoch: number; owner: string; release?: string; from: Place; to?: Place }[]; // the newest first; owner "": not kept
  leftOut: number;
}

// Branches: POST branches, GET branches, GET branches/{id}, DELETE branches/{id} (with keep=true it is only ended, and stays to be seen).
// A POST or DELETE needs the header X-Hindsight-Page: 1. A session: POST session {"token":"…"}, DELETE session.
export interface BranchRequest {
  name: string;
  from: number;
  until?: number;
  edits: Edit[];
}
export type Edit =
  | { kind: 'quota'; clusterQueue: string; resource: string; flavor?: string; amount: string } // amount: 8, +40, -2
  | { kind: 'manifest'; yaml: string }
  | { kind: 'drop'; object: ObjectRef }
  | { kind: 'nodes'; count: number; like: string }
  | { kind: 'featureGates'; text: string };
export interface Branch {
  id: string;
  name: string;
  domain: string;
  from: Place;
  until?: number;
  state: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled'; // one is played at a time
  progress: { position: number; of: number };
  message?: string; // why it failed
  edits: Edit[];
  latest?: Place; // of its own log, when it is done; absent: it has none, for the log has forgotten its beginning
  notices?: string[]; // what a reader of the result should know
  result?: unknown; // as `hindsight what-if -o json`
}
