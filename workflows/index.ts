// What a worker runs. The workflow type is the function's name.
export { priceLines } from './price.ts';
export { purchaseOrder } from './purchase-order.ts';
