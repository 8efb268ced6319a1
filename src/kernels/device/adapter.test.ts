import { expect, test } from 'vitest'
import { openAdapter } from './adapter.ts'

const MIB = 2 ** 20

/** An adapter whose limits name 4 GiB and that refuses devices above `granted` bytes. Says what it
 * was asked for. */
function adapterOf(granted: number) {
  const asked: (number | undefined)[] = []
  let destroyed = 0
  const gpu = {
    async requestAdapter() {
      return {
        limits: { maxStorageBufferBindingSize: 4096 * MIB, maxBufferSize: 4096 * MIB },
        features: new Set(),
        info: { vendor: 'test', architecture: '', device: '', description: '' },
        async requestDevice({ requiredLimits }: { requiredLimits: Record<string, number> }) {
          const { maxStorageBufferBindingSize: binding, maxBufferSize } = requiredLimits
          asked.push(binding)
          if ((binding ?? 0) > granted) throw new DOMException('limit', 'OperationError')
          const limits = {
            maxStorageBufferBindingSize: binding ?? 128 * MIB,
            maxBufferSize: maxBufferSize ?? 256 * MIB,
          }
          return { limits, features: new Set(), destroy: () => destroyed++ }
        },
      }
    },
  } as unknown as GPU
  return { gpu, asked, destroyed: () => destroyed }
}

test('a run that fits the defaults asks for nothing more', async () => {
  const { gpu, asked } = adapterOf(4096 * MIB)
  const { facts } = await openAdapter({ gpu, largest: { label: 'x', bytes: 100 * MIB } })
  expect(asked).toEqual([undefined])
  expect(facts.max_binding_bytes).toBe(128 * MIB)
})

test('a larger one asks for what it needs', async () => {
  const { gpu, asked } = adapterOf(4096 * MIB)
  const { facts } = await openAdapter({ gpu, largest: { label: 'x', bytes: 700 * MIB } })
  expect(asked).toEqual([700 * MIB])
  expect([facts.max_binding_bytes, facts.max_buffer_bytes]).toEqual([700 * MIB, 700 * MIB])
})

test('where that is refused it asks for less, and says what there is', async () => {
  const { gpu, asked, destroyed } = adapterOf(1024 * MIB)
  const largest = { label: 'cache [1, 2]', bytes: 3000 * MIB }
  await expect(openAdapter({ gpu, largest })).rejects.toThrow(
    /cache \[1, 2\] needs 3145\.7 MB; this adapter binds at most 1073\.7 MB/,
  )
  expect(asked).toEqual([3000 * MIB, 2048 * MIB, 1024 * MIB])
  expect(destroyed()).toBe(1)
})

test('an adapter that gives no device at all says why', async () => {
  const { gpu } = adapterOf(-1)
  await expect(openAdapter({ gpu })).rejects.toThrow('limit')
})
