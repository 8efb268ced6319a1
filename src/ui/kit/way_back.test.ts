import { beforeEach, expect, test, vi } from 'vitest'

interface Entry {
  readonly state: unknown
  readonly address: string
}

/** The history of a browser, whose ways are tasks of their own as there. */
function fakeBrowser(first: Entry) {
  let entries = [first]
  let at = 0
  const follows: ((event: Event) => void)[] = []
  const go = (by: number) =>
    setTimeout(() => {
      at += by
      let isStopped = false
      const event = new Event('popstate')
      event.stopImmediatePropagation = () => {
        isStopped = true
      }
      for (const follow of follows) if (!isStopped) follow(event)
    })
  const history = {
    get state() {
      return entries[at]?.state
    },
    scrollRestoration: 'auto',
    pushState(state: unknown, _: string, address = entries[at]?.address ?? '') {
      entries = [...entries.slice(0, at + 1), { state, address }]
      at++
    },
    replaceState(state: unknown, _: string, address = entries[at]?.address ?? '') {
      entries[at] = { state, address }
    },
    back: () => go(-1),
  }
  vi.stubGlobal('history', history)
  vi.stubGlobal('location', {
    get href() {
      return entries[at]?.address
    },
  })
  vi.stubGlobal('addEventListener', (_: string, follow: (event: Event) => void) =>
    follows.push(follow),
  )
  return {
    history,
    go: async (by: number) => {
      go(by)
      await vi.runAllTimersAsync()
    },
    /** What others follow. */
    onOthers: (follow: () => void) => follows.push(follow),
    addresses: () => entries.map(({ address }) => address),
    now: () => `${entries[at]?.address} ${at + 1}/${entries.length}`,
  }
}

async function begin(state: unknown = null) {
  vi.resetModules()
  const browser = fakeBrowser({ state, address: '/' })
  const ways = await import('./way_back.ts')
  const followed = vi.fn()
  /** A dialog as the browser has it. */
  const show = () => {
    let isOpen = true
    const leave = ways.laidOver({ isOpen: () => isOpen, close: () => close() })
    const close = () => {
      isOpen = false
      setTimeout(leave)
    }
    return { close, isOpen: () => isOpen }
  }
  return { ...browser, ...ways, show, followed }
}

beforeEach(() => {
  vi.useFakeTimers()
  return () => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  }
})

test('Back closes what lies over the page, and nobody else hears of it', async () => {
  const { show, go, now, history, onOthers, followed } = await begin()
  const dialog = show()
  onOthers(followed)
  await vi.runAllTimersAsync()
  expect(now()).toBe('/ 2/2')
  expect(history.scrollRestoration).toBe('manual')
  await go(-1)
  expect(dialog.isOpen()).toBe(false)
  expect(now()).toBe('/ 1/2')
  expect(history.scrollRestoration).toBe('auto')
  // Forward finds an entry that stands for nothing.
  await go(1)
  expect(now()).toBe('/ 1/2')
  expect(followed).not.toHaveBeenCalled()
})

test('another way of closing takes the entry back, with the address as it is by then', async () => {
  const { show, now, history, onOthers, followed } = await begin()
  for (const address of ['/?seed=2', '/?seed=3']) {
    const dialog = show()
    await vi.runAllTimersAsync()
    history.replaceState(history.state, '', address)
    dialog.close()
    await vi.runAllTimersAsync()
    expect(now()).toBe(`${address} 1/2`)
  }
  onOthers(followed)
  expect(followed).not.toHaveBeenCalled()
})

test('a dialog that opens from another keeps one entry, and one over another closes first', async () => {
  const { show, go, now } = await begin()
  const first = show()
  await vi.runAllTimersAsync()
  first.close()
  const second = show()
  await vi.runAllTimersAsync()
  expect(now()).toBe('/ 2/2')
  const third = show()
  await vi.runAllTimersAsync()
  expect(now()).toBe('/ 2/2')
  await go(-1)
  expect([second.isOpen(), third.isOpen()]).toEqual([true, false])
  await go(-1)
  expect(second.isOpen()).toBe(false)
  expect(now()).toBe('/ 1/2')
})

test('what a dialog goes to takes the place of its entry', async () => {
  const { show, now, addresses, pushEntry, go, onOthers, followed } = await begin()
  const dialog = show()
  await vi.runAllTimersAsync()
  onOthers(followed)
  dialog.close()
  pushEntry('/#inside')
  await vi.runAllTimersAsync()
  expect(addresses()).toEqual(['/', '/#inside'])
  expect(now()).toBe('/#inside 2/2')
  // While its entry is being taken back, too.
  const other = show()
  await vi.runAllTimersAsync()
  other.close()
  vi.advanceTimersToNextTimer()
  pushEntry('/#runs')
  await vi.runAllTimersAsync()
  expect(addresses()).toEqual(['/', '/#inside', '/#runs'])
  await go(-1)
  expect(now()).toBe('/#inside 2/3')
  expect(followed).toHaveBeenCalledTimes(1)
})

test('a dialog that stays open over what it went to has an entry over that', async () => {
  const { show, go, now, addresses, pushEntry } = await begin()
  const dialog = show()
  await vi.runAllTimersAsync()
  pushEntry('/#lesson')
  await vi.runAllTimersAsync()
  expect(addresses()).toEqual(['/', '/#lesson', '/#lesson'])
  await go(-1)
  expect(dialog.isOpen()).toBe(false)
  expect(now()).toBe('/#lesson 2/3')
})

test('a page that is loaded again with a dialog open leaves its entry', async () => {
  const { history, now, leaveReloaded } = await begin({ study: 'one' })
  history.pushState({ study: 'one', over: true }, '', '/?seed=2')
  leaveReloaded()
  await vi.runAllTimersAsync()
  expect(now()).toBe('/?seed=2 1/2')
  expect(history.state).toEqual({ study: 'one' })
  leaveReloaded()
  await vi.runAllTimersAsync()
  expect(now()).toBe('/?seed=2 1/2')
})
