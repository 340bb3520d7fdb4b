// The views: name in the address, its title, its letter after `g`, and where its component is. Each is a chunk of its own, loaded when it is
// first opened. A view is a default-exported component without props: it reads `route.value.parts` and `route.value.query`.
import type { ComponentType } from 'preact';

export interface ViewEntry {
  title: string;
  letter?: string; // g + letter
  inNavigation: boolean;
  under?: string; // which line of the navigation is lit, if it has none of its own
  load: () => Promise<{ default: ComponentType }>;
}

export const views: Record<string, ViewEntry> = {
  overview: { title: 'Overview', letter: 'o', inNavigation: true, load: () => import('./overview.js') },
  queues: { title: 'Queues', letter: 'q', inNavigation: true, load: () => import('./queues.js') },
  queue: { title: 'Queue', inNavigation: false, under: 'queues', load: () => import('./queue.js') },
  workloads: { title: 'Workloads', letter: 'w', inNavigation: true, load: () => import('./workloads.js') },
  workload: { title: 'Workload', inNavigation: false, under: 'workloads', load: () => import('./workload.js') },
  preemptions: { title: 'Preemptions', letter: 'p', inNavigation: true, load: () => import('./preemptions.js') },
  topology: { title: 'Topology', letter: 't', inNavigation: true, load: () => import('./topology.js') },
  objects: { title: 'Objects', letter: 'l', inNavigation: true, load: () => import('./objects.js') },
  object: { title: 'Object', inNavigation: false, under: 'objects', load: () => import('./object.js') },
  compare: { title: 'Compare', letter: 'c', inNavigation: true, load: () => import('./compare.js') },
  whatif: { title: 'What if', letter: 'i', inNavigation: true, load: () => import('./whatif.js') },
  records: { title: 'Records', letter: 'r', inNavigation: true, load: () => import('./records.js') },
  fleet: { title: 'Fleet', letter: 'f', inNavigation: true, load: () => import('./fleet.js') },
};
