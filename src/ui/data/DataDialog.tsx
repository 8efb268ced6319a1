// Opens the dialog for a person's own data. What is inside is loaded when it is first opened.
import { lazyPart, Opening } from '../part/lazy_part.tsx'
import { Modal } from '../part/Modal.tsx'

const DataForm = lazyPart(async () => (await import('./DataForm.tsx')).DataForm, {
  name: 'Data',
  fallback: <Opening />,
})

export function DataDialog() {
  return (
    <Modal name="data" label="Data">
      <DataForm />
    </Modal>
  )
}
