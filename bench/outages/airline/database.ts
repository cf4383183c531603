/** The airline's data. Its shape is that of tau²-bench's airline domain, so that its database can be read as well. */
export interface Database {
  readonly users: Readonly<Record<string, User>>;
  readonly reservations: Readonly<Record<string, Reservation>>;
  readonly flights: Readonly<Record<string, Flight>>;
}

export interface Payment {
  readonly id: string;
  readonly source: string;
  amount?: number;
}

export interface User {
  readonly user_id: string;
  readonly payment_methods: Record<string, Payment>;
  readonly membership: string;
  readonly reservations: string[];
}

export interface Leg {
  readonly flight_number: string;
  readonly date: string;
}

export interface Passenger {
  readonly first_name: string;
  readonly last_name: string;
  readonly dob: string;
}

export interface Reservation {
  readonly reservation_id: string;
  readonly user_id: string;
  origin: string;
  destination: string;
  flight_type: string;
  cabin: string;
  flights: (Leg & { readonly origin: string; readonly destination: string; readonly price: number })[];
  passengers: readonly Passenger[];
  payment_history: { readonly payment_id: string; readonly amount: number }[];
  total_baggages: number;
  nonfree_baggages: number;
  insurance: string;
  status?: string | null;
}

export interface FlightDay {
  readonly status: string;
  available_seats?: Record<string, number>;
  prices?: Record<string, number>;
}

export interface Flight {
  readonly flight_number: string;
  readonly origin: string;
  readonly destination: string;
  readonly scheduled_departure_time_est: string;
  readonly scheduled_arrival_time_est: string;
  readonly dates: Record<string, FlightDay>;
}

export type Table = keyof Database;

/**
 * A database that a task changes. A row is copied when it is first touched, and the data beneath stays as it is, so that each task begins
 * with the same data without a copy of it all.
 */
export class Store {
  readonly #base: Database;
  readonly #changed = new Map<string, unknown>();

  constructor(base: Database) {
    this.#base = base;
  }

  /** A row that may be changed; undefined if there is no such row. */
  row<Name extends Table>(table: Name, id: string): Database[Name][string] | undefined {
    const key = `${table}/${id}`;
    if (!this.#changed.has(key)) {
      const found = Object.hasOwn(this.#base[table], id) ? this.#base[table][id] : undefined;
      if (found === undefined) return undefined;
      this.#changed.set(key, structuredClone(found));
    }
    return this.#changed.get(key) as Database[Name][string];
  }

  add(reservation: Reservation): void {
    this.#changed.set(`reservations/${reservation.reservation_id}`, reservation);
  }

  flights(): readonly Flight[] {
    return Object.values(this.#base.flights).map(({ flight_number }) => this.row('flights', flight_number) as Flight);
  }

  /** All rows that differ from the data beneath, as text. Two stores on the same data are equal if these are. */
  changes(): string {
    const rows = [...this.#changed].filter(([key, row]) => {
      const [table, id] = key.split('/') as [Table, string];
      return JSON.stringify(row) !== JSON.stringify(this.#base[table][id]);
    });
    return JSON.stringify(rows.sort(([one], [other]) => (one < other ? -1 : 1)));
  }
}
