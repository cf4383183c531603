import type { ErrorCategory } from '@breakerbox/core';
import { describe, expect, it } from 'vitest';
import { classifyError, classifyResult } from '../test-support/classify/verdicts.ts';

const STATUSES: readonly (readonly [number, string, ErrorCategory])[] = [
  [1, 'CANCELLED', 'cancelled'],
  [3, 'INVALID_ARGUMENT', 'invalid_input'],
  [4, 'DEADLINE_EXCEEDED', 'timeout'],
  [5, 'NOT_FOUND', 'invalid_input'],
  [6, 'ALREADY_EXISTS', 'invalid_input'],
  [7, 'PERMISSION_DENIED', 'permission'],
  [8, 'RESOURCE_EXHAUSTED', 'resource'],
  [9, 'FAILED_PRECONDITION', 'invalid_input'],
  [10, 'ABORTED', 'server'],
  [11, 'OUT_OF_RANGE', 'invalid_input'],
  [12, 'UNIMPLEMENTED', 'server'],
  [13, 'INTERNAL', 'server'],
  [14, 'UNAVAILABLE', 'network'],
  [15, 'DATA_LOSS', 'server'],
  [16, 'UNAUTHENTICATED', 'permission'],
];
const category = (error: unknown) => classifyError(error, { unixMs: 0 }).category;
const returned = (text: string) => classifyResult({ error: text }, { unixMs: 0 })?.category;

describe("O2: gRPC's statuses", () => {
  it.each(STATUSES)('O2: %i %s is %s, by number and by text', (code, name, wanted) => {
    const grpcError = { details: 'something', metadata: {} };
    expect(category(Object.assign(new Error('something'), { code, ...grpcError }))).toBe(wanted);
    expect(category(new Error(`${code} ${name}: something`))).toBe(wanted);
    expect(category(new Error(`status = StatusCode.${name}`))).toBe(wanted);
    const kebab = name.toLowerCase().replaceAll('_', '-');
    for (const firebase of [kebab, `firestore/${kebab}`])
      expect(category(Object.assign(new Error('x'), { name: 'FirebaseError', code: firebase }))).toBe(wanted);
    const go = name.toLowerCase().replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
    expect(category(new Error(`rpc error: code = ${go.replace('Cancelled', 'Canceled')} desc = x`))).toBe(wanted);
  });

  it('O2: a status outranks the text after it; INTERNAL gives way to an error code', () => {
    expect(category(new Error('3 INVALID_ARGUMENT: field deadline exceeded the bound'))).toBe('invalid_input');
    expect(category(new Error('5 NOT_FOUND: no document ECONNREFUSED'))).toBe('invalid_input');
    expect(category(new Error('13 INTERNAL: Received RST_STREAM: read ECONNRESET'))).toBe('network');
    expect(category(new Error('13 INTERNAL: boom'))).toBe('server');
  });

  it('O2: a returned NOT_FOUND is an answer', () => {
    expect(returned('5 NOT_FOUND: no such order')).toBe('invalid_input');
    expect(returned('6 ALREADY_EXISTS: order 7')).toBe('invalid_input');
    expect(returned('9 FAILED_PRECONDITION: not paid')).toBe('invalid_input');
    expect(returned('1 CANCELLED: by the customer')).toBe('cancelled');
    expect(returned('14 UNAVAILABLE: no connection')).toBe('network');
  });

  it('O2: a small number is a status only beside details and metadata', () => {
    expect(category(Object.assign(new Error('x'), { code: 14 }))).toBe('unknown');
    expect(category(Object.assign(new Error('x'), { code: 14, details: 'x' }))).toBe('unknown');
    expect(category(Object.assign(new Error('x'), { code: 2, details: 'x', metadata: {} }))).toBe('unknown');
    expect(category(Object.assign(new Error('x'), { code: 17, details: 'x', metadata: {} }))).toBe('unknown');
  });
});
