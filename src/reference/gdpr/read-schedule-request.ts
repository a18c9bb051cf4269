import { parseScheduleTime } from '../render/date-forms.ts';
import { GDPR_OPERATIONS } from './gdpr-operations.ts';

/** A job that a client asks for, or what is wrong with its request. */
export type ScheduleRequest =
  { readonly fileId: number; readonly operations: string; readonly dueAt: number } | { readonly problem: string };

const KNOWN: ReadonlySet<string> = new Set(GDPR_OPERATIONS);

function readOperations(value: unknown): string[] {
  const names: unknown[] = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [];
  return names.map((name) => (typeof name === 'string' ? name.trim() : ''));
}

/** Reads `{fileId, operations, scheduleTime}`; operations are a list or a comma text, an absent time means now (epoch ms). */
export function readScheduleRequest(body: unknown, now: number): ScheduleRequest {
  const { fileId, operations, scheduleTime } = (typeof body === 'object' && body !== null ? body : {}) as Record<
    string,
    unknown
  >;
  const id = typeof fileId === 'string' && /^\d{1,15}$/.test(fileId) ? Number(fileId) : fileId;
  if (typeof id !== 'number' || !Number.isSafeInteger(id)) return { problem: "The provided 'fileId' is/are invalid" };
  const names = readOperations(operations);
  if (names.length === 0 || !names.every((name) => KNOWN.has(name))) {
    return { problem: "The provided 'operations' is/are invalid" };
  }
  const absent = scheduleTime === undefined || scheduleTime === null;
  const dueAt = absent ? now : typeof scheduleTime === 'string' ? parseScheduleTime(scheduleTime) : undefined;
  if (dueAt === undefined) return { problem: "The provided 'scheduleTime' is/are invalid" };
  return { fileId: id, operations: names.join(','), dueAt };
}
