// Leads from a lesson to a tab of the page.
import type { Tab } from '../../../document/links/view.ts'
import { openTab } from '../../shown/store.ts'

export function OpenTab({ tab, children }: { readonly tab: Tab; readonly children: string }) {
  return (
    <p>
      <button type="button" onClick={() => openTab(tab)}>
        {children}
      </button>
    </p>
  )
}
