import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/lib/package-root.ts';

/** A dashboard panel, with the members that the tests read. */
export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: { readonly uid: string };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig?: {
    readonly defaults: {
      readonly unit?: string;
      readonly mappings?: readonly {
        readonly options: Readonly<Record<string, { readonly text: string; readonly color: string }>>;
      }[];
      readonly thresholds?: { readonly steps: readonly { readonly color: string; readonly value: number | null }[] };
    };
  };
  readonly targets?: readonly {
    readonly refId: string;
    readonly expr: string;
    readonly legendFormat: string;
    readonly datasource: { readonly uid: string };
  }[];
}

/** The dashboard, with the members that the tests read. */
export interface Dashboard {
  readonly panels: readonly Panel[];
  readonly annotations: {
    readonly list: readonly { readonly name: string; readonly expr: string; readonly textFormat: string }[];
  };
  readonly links: readonly { readonly url: string }[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
}

/** Reads the committed dashboard. */
export function readDashboard(): Dashboard {
  return JSON.parse(readFileSync(join(packageRoot, 'config', 'grafana', 'portico.json'), 'utf8')) as Dashboard;
}

/** Returns all queries in the dashboard's panels. */
export function dashboardQueries(): string[] {
  return readDashboard().panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
}
