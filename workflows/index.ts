// What a worker runs. The workflow type is the function's name.
export { buyingAgent } from './agent/buying-agent.ts';
export { priceLines } from './price.ts';
export { purchaseOrder } from './purchase-order.ts';
