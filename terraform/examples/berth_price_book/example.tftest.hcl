run "applied" {
  assert {
    condition     = berth_price_book.example.prices[0].effective_from == "2026-01-01T00:00:00+01:00"
    error_message = "A time is not as it was written."
  }

  assert {
    condition     = berth_price_book.example.prices[0].tiers["premium"].disk_gib == 0
    error_message = "An amount that is not given is not 0."
  }
}
