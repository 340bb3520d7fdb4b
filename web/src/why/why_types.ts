// The parts of `hindsight why -o json` that the page draws; all may be missing, since releases differ in what they explain.
export interface WhyWorkload {
  position?: number;
  time?: string;
  object?: string; // "Workload team-a/train"
  job?: string; // "Job/train"
  phase?: string;
  headline?: string;
  reason?: string;
  message?: string;
  since?: string;
  facts?: string[];
  decisions?: { offset: number; time: string; text: string }[];
  life?: WhyLife;
  queue?: {
    clusterQueue: string;
    position: number;
    positionInLocalQueue?: number;
    waiting: number;
    parked?: boolean;
    preempting?: boolean;
    ahead?: { workload: string; priority: number; parked?: boolean }[];
  };
  quota?: WhyTrial[];
  places?: {
    podSet?: string;
    flavor?: string;
    topology?: string;
    message?: string;
    fits?: boolean;
    fitsEmpty?: boolean;
    beside?: string[]; // pod sets that took their places first
    nearest?: { domain: string; fit: number };
    excluded?: WhyNodes[];
    excludedForLeader?: WhyNodes[];
    leftOut?: WhyNodes[]; // nodes of the flavor that give nobody places
  }[];
  users?: WhyUse[];
  preemption?: { text?: string[]; victims?: { workload: string }[] };
  remedies?: WhyRemedy[];
  options?: unknown[];
}

export interface WhyNodes {
  reason: string;
  nodes: number;
  examples?: string[];
  examplesLeftOut?: number;
}

export interface WhyTrial {
  podSet?: string;
  flavor: string;
  resource: string;
  requested?: string;
  nominal?: string;
  used?: string;
  borrowed?: string;
  available?: string;
  maximum?: string;
  verdict?: string; // fits, short, tooMuch, ...
  missing?: string;
  blockedBy?: string;
  mismatch?: string;
}

export interface WhyHolder {
  workload: string;
  clusterQueue?: string;
  priority?: number;
  amount?: string;
  evicted?: boolean;
}

export interface WhyUse {
  flavor: string;
  resource: string;
  inQueue?: string;
  inCohort?: string;
  own?: WhyHolder[];
  ownLeftOut?: number;
  others?: WhyHolder[];
  othersLeftOut?: number;
}

export interface WhyRemedy {
  kind: string;
  object?: string;
  text: string;
  played?: { before?: unknown[]; after?: unknown[]; evicted?: string[] };
}

export interface WhyLife {
  created?: string;
  totalMicros?: number;
  waitedMicros?: number;
  ranMicros?: number;
  lostMicros?: number;
  stoppedMicros?: number;
  unknownMicros?: number;
  end?: string;
  losses?: { offset: number; time: string; lostMicros: number; reason: string; by?: { workload: string; clusterQueue?: string } }[];
}

export interface WhyQueue {
  object?: string;
  active?: boolean;
  headline?: string;
  facts?: string[];
  head?: { workload: string; priority?: number; waitMilliseconds?: number; reason?: string; preemption?: string[] };
  quota?: WhyTrial[];
  waiting?: {
    total: number;
    reasons?: { reason: string; detail?: string; workloads: number; longestWaitMilliseconds?: number; example?: string }[];
  };
}
