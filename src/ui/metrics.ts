// Names of the metrics that the page draws. They are verl's; a task's accuracy carries the task's id.

export const REWARD = 'critic/score/mean'
export const greedyAccuracy = (task_id: string) => `val-aux/${task_id}/acc/greedy`
export const sampledAccuracy = (task_id: string, n: number) => `val-core/${task_id}/acc/mean@${n}`
export const layerEntropy = (layer: number) => `layer/entropy/${layer}`
