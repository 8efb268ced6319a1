// Takes the measurements in Node, on Dawn, for a machine whose browser offers no WebGPU adapter,
// e.g. a server without a display.
import { openDawn } from '../src/cli/base/dawn.ts'

/** Puts the measurements of bench/page/bench.ts on the global object, as the page does. */
export async function openBench(): Promise<void> {
  addIteratorHelpers()
  const gpu = await openDawn()
  // TensorFlow.js reads the name of the browser.
  const navigator = { gpu, userAgent: 'node', hardwareConcurrency: 1 }
  Object.defineProperty(globalThis, 'navigator', { value: navigator, configurable: true })
  Object.assign(globalThis, { self: globalThis, window: globalThis })
  await import('./page/bench.ts')
}

/** jax-js uses the iterator helpers that Node has from version 22 on. */
function addIteratorHelpers(): void {
  const iterator = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()))
  if ('map' in iterator) return
  Object.assign(iterator, {
    *map(this: Iterable<unknown>, change: (item: unknown) => unknown) {
      for (const item of this) yield change(item)
    },
    *filter(this: Iterable<unknown>, holds: (item: unknown) => boolean) {
      for (const item of this) if (holds(item)) yield item
    },
    toArray(this: Iterable<unknown>) {
      return [...this]
    },
    some(this: Iterable<unknown>, holds: (item: unknown) => boolean) {
      return [...this].some(holds)
    },
    every(this: Iterable<unknown>, holds: (item: unknown) => boolean) {
      return [...this].every(holds)
    },
  })
}
