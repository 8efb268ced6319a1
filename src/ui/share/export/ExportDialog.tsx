// Draws the dialog that takes a model or a job out of the lab. What is inside is loaded when it is
// first opened.
import { lazyPart, Opening } from '../../part/lazy_part.tsx'
import { Modal } from '../../part/Modal.tsx'

const ExportForm = lazyPart(async () => (await import('./ExportForm.tsx')).ExportForm, {
  name: 'Export',
  fallback: <Opening />,
})

export function ExportDialog() {
  return (
    <Modal name="export" label="Export">
      <ExportForm />
    </Modal>
  )
}
