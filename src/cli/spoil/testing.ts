// Spoils sound input in the ways that accidents and strangers do. For tests; never shipped.
import fc from 'fast-check'

/** What parsers trip over: sizes beyond sense, names of prototypes, numbers that are not finite,
 * markup, endless nesting. */
const POISON = [
  '__proto__',
  'constructor',
  'toString',
  '999999999999999999999',
  '-1',
  '1e308',
  '1e999',
  'NaN',
  'null',
  '4294967296',
  '0.1.2',
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  'javascript:alert(1)',
  '%',
  '%E0%A4%A',
  '\u0000',
  '\u202e',
  '\ud800',
  '{',
  '[',
  '&',
  '=',
  ',',
  '.',
  '[[[['.repeat(500),
  '{"a":'.repeat(500),
  'a.'.repeat(500),
  '9'.repeat(3000),
] as const

type Cut = readonly [at: number, remove: number, insert: string]

const cut = (length: number): fc.Arbitrary<Cut> =>
  fc.tuple(
    fc.nat({ max: length }),
    fc.oneof(fc.constant(0), fc.nat({ max: 12 }), fc.nat({ max: length })),
    fc.oneof(
      fc.constant(''),
      fc.constantFrom(...POISON),
      fc.string({ unit: 'binary', maxLength: 8 }),
    ),
  )

/** A text after one to six cuts and insertions. */
export const spoiltText = (text: string): fc.Arbitrary<string> =>
  fc
    .array(cut(text.length), { minLength: 1, maxLength: 6 })
    .map((cuts) =>
      cuts.reduce(
        (spoilt, [at, remove, insert]) =>
          spoilt.slice(0, at) + insert + spoilt.slice(Math.min(at, spoilt.length) + remove),
        text,
      ),
    )

/** Bytes after one to eight changes: single bytes, cut ends, whole parts repeated. */
export const spoiltBytes = (bytes: Uint8Array): fc.Arbitrary<Uint8Array<ArrayBuffer>> =>
  fc
    .array(
      fc.tuple(
        fc.constantFrom('byte', 'head', 'end', 'repeat'),
        fc.nat({ max: Math.max(0, bytes.length - 1) }),
        fc.integer({ min: 0, max: 255 }),
      ),
      { minLength: 1, maxLength: 8 },
    )
    .map((changes) => {
      let spoilt = Uint8Array.from(bytes)
      for (const [kind, at, value] of changes) {
        if (kind === 'byte' && at < spoilt.length) spoilt[at] = value
        // The first bytes say how long the header is, the next are the header.
        if (kind === 'head' && spoilt.length > 0) spoilt[at % Math.min(64, spoilt.length)] = value
        if (kind === 'end') spoilt = spoilt.slice(0, at)
        if (kind === 'repeat')
          spoilt = Uint8Array.from([
            ...spoilt.slice(0, at),
            ...spoilt.slice(Math.max(0, at - value)),
          ])
      }
      return spoilt
    })

/** A plain value after some of its leaves were replaced, dropped or put elsewhere. */
export function spoiltValue(value: unknown): fc.Arbitrary<unknown> {
  const leaf = fc.oneof(
    fc.constantFrom<unknown>(...POISON, undefined, null, Number.NaN, -1, 2 ** 53, [], {}),
    fc.anything({ maxDepth: 2 }),
  )
  return fc
    .array(fc.tuple(fc.infiniteStream(fc.nat({ max: 30 })), leaf), { minLength: 1, maxLength: 4 })
    .map((changes) => {
      const spoilt: { value: unknown } = { value: structuredClone(value) }
      for (const [stream, put] of changes) {
        let holder = spoilt as Record<string, unknown>
        let name = 'value'
        // Down to some place, deeper places as likely as shallow ones.
        for (let depth = stream.next().value % 6; depth > 0; depth--) {
          const inner = holder[name]
          if (typeof inner !== 'object' || inner === null) break
          const names = Object.keys(inner)
          if (names.length === 0) break
          holder = inner as Record<string, unknown>
          name = names[stream.next().value % names.length]
        }
        holder[name] = put
      }
      return spoilt.value
    })
}
