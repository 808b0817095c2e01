//! `berth`: the one binary. Every role, the operator's commands and the customer's.
//!
//! A supervisor of a command is this binary too, and so is a child of `berth up` before it becomes what it is to be: both come
//! before anything else, before threads and before arguments are read. What goes wrong below becomes one text on standard error and one exit code, here and nowhere else.

mod admin;
mod arguments;
mod canary;
mod cursor_file;
mod customer;
mod doctor;
mod lifetime;
mod manual;
mod openapi;
mod output;
mod probe;
mod rebuild_usage;
mod sim;
mod threads;

use admin::Standing;
use arguments::{
    AdminArguments, AdminCommand, AdminInvoiceCommand, Arguments, AuditCommand, CapCommand,
    Command, ConcurrencyCommand, CreditCommand, ExecutorCommand, InvoiceCommand, KeyCommand,
    KeysCommand, OperatorKeyCommand, PlanCommand, PoolCommand, PriceBookCommand, ProfileCommand,
    QuoteCommand, ScheduleCommand, TenantCommand, UserCommand, UsersCommand, WebhookCommand,
    WorkflowCommand,
};
use clap::{CommandFactory, Parser};
use customer::{Connection, ConnectionArguments};
use domain::invoice::InvoiceMove;
use failure::Failure;
use local::{failure, role, settings_arguments, up};
use output::Format;
use std::process::ExitCode;
use std::time::Duration;

/// Time for the last log lines. Where nobody reads them the process ends without.
const LAST_LINES: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    executor::supervise::maybe_run();
    up::child::maybe_become();
    let arguments = Arguments::parse();
    let mut threads = tokio::runtime::Builder::new_multi_thread();
    if let Some(number) = threads::of(&arguments.command) {
        threads.worker_threads(number);
    }
    let ended = threads
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("cannot start threads: {error}")))
        .and_then(|runtime| {
            let ended = runtime.block_on(async {
                let ended = run(arguments).await;
                ::runtime::otlp::flush().await;
                ended
            });
            // A blocking read that hangs must not keep the process from ending.
            runtime.shutdown_background();
            ended
        });
    ::runtime::log_queue::flush(LAST_LINES);
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::complain(&failure);
            failure.exit().into()
        }
    }
}

async fn run(arguments: Arguments) -> Result<(), Failure> {
    let format = arguments.output;
    let connection = arguments.connection;
    let connect = || Connection::new(&connection, format);
    match arguments.command {
        Command::Up(how) => Box::pin(up::run(&how, format)).await,
        Command::Api(settings) => Box::pin(role::api(&settings)).await,
        Command::Scheduler(settings) => Box::pin(role::scheduler(&settings)).await,
        Command::Notifier(settings) => Box::pin(role::notifier(&settings)).await,
        Command::ResourceManager(settings) => Box::pin(role::resource_manager(&settings)).await,
        Command::Executor(settings) => Box::pin(role::executor(&settings)).await,
        Command::Migrate(settings) => Box::pin(admin::migrate(&settings)).await,
        Command::Canary(how) => Box::pin(canary::run(&how, &connection, format)).await,
        Command::Probe(which) => Box::pin(probe::run(&which)).await,
        Command::Doctor(what) => Box::pin(doctor::run(&what, format)).await,
        Command::Admin(what) => Box::pin(operate(what, &connection, format)).await,
        Command::Audit(which) => Box::pin(customer::audit(&connect()?, &which)).await,
        Command::Submit(task) => Box::pin(customer::submit(&connect()?, *task)).await,
        Command::Get(which) => Box::pin(customer::get(&connect()?, &which)).await,
        Command::Explain(which) => Box::pin(customer::explain(&connect()?, &which)).await,
        Command::List(which) => Box::pin(customer::list(&connect()?, &which)).await,
        Command::Logs(which) => Box::pin(customer::logs(&connect()?, &which)).await,
        Command::Result(which) => Box::pin(customer::result(&connect()?, &which)).await,
        Command::Rerun(which) => Box::pin(customer::rerun(&connect()?, &which)).await,
        Command::Retry(which) => Box::pin(customer::retry(&connect()?, &which)).await,
        Command::RunNow(which) => Box::pin(customer::run_now(&connect()?, &which)).await,
        Command::MarkSucceeded(which) => {
            Box::pin(customer::mark_succeeded(&connect()?, &which)).await
        }
        Command::Change(which) => Box::pin(customer::change(&connect()?, &which)).await,
        Command::Complete(what) => Box::pin(customer::complete(&connection, format, what)).await,
        Command::Cancel(which) => Box::pin(customer::cancel(&connect()?, &which)).await,
        Command::Attempts(which) => Box::pin(customer::attempts(&connect()?, &which)).await,
        Command::Cost(which) => Box::pin(customer::cost(&connect()?, &which)).await,
        Command::Quote(command) => Box::pin(quote(command, &connect()?)).await,
        Command::Invoice(command) => Box::pin(invoice(command, &connect()?)).await,
        Command::Usage(which) => Box::pin(customer::usage(&connect()?, &which)).await,
        Command::Events(which) => Box::pin(customer::events(&connect()?, which)).await,
        Command::Overview => Box::pin(customer::overview(&connect()?)).await,
        Command::Limits => Box::pin(customer::limits(&connect()?)).await,
        Command::Watch(which) => Box::pin(customer::watch(&connect()?, &which)).await,
        Command::Cap(command) => Box::pin(cap(command, &connect()?)).await,
        Command::Concurrency(command) => Box::pin(concurrency(command, &connect()?)).await,
        Command::Schedule(command) => Box::pin(schedule(command, &connect()?)).await,
        Command::Workflow(WorkflowCommand::Check(what)) => customer::workflow::check(&what, format),
        Command::Workflow(command) => Box::pin(workflow(command, &connect()?)).await,
        Command::Webhook(command) => Box::pin(webhook(command, &connect()?)).await,
        Command::Apply(what) => Box::pin(customer::apply(&connect()?, &what)).await,
        Command::Export(what) => Box::pin(customer::export(&connect()?, &what)).await,
        Command::Signal(what) => Box::pin(customer::signal(&connect()?, &what)).await,
        Command::Approve(which) => Box::pin(customer::approve(&connect()?, &which)).await,
        Command::Reject(which) => Box::pin(customer::reject(&connect()?, &which)).await,
        Command::Keys(KeysCommand::List) => Box::pin(customer::keys_list(&connect()?)).await,
        Command::Keys(KeysCommand::Create(key)) => {
            Box::pin(customer::keys_create(&connect()?, &key)).await
        }
        Command::Keys(KeysCommand::Rotate(key)) => {
            Box::pin(customer::keys_rotate(&connect()?, &key)).await
        }
        Command::Keys(KeysCommand::Revoke(key)) => {
            Box::pin(customer::keys_revoke(&connect()?, &key)).await
        }
        Command::Users(command) => Box::pin(users(command, &connect()?)).await,
        Command::Login(how) => Box::pin(customer::login(&connection, &how)).await,
        Command::WhoAmI => Box::pin(customer::who_am_i(&connect()?)).await,
        Command::SignIn(who) => Box::pin(customer::sign_in(&connection, &who)).await,
        Command::Accept(what) => Box::pin(customer::accept(&connection, &what)).await,
        Command::SignUp(who) => Box::pin(customer::sign_up(&connection, &who)).await,
        Command::Profile(ProfileCommand::List) => customer::profile_list(format),
        Command::Profile(ProfileCommand::Use(which)) => customer::profile_use(&which),
        Command::Sim(what) => sim::run(&what, format),
        Command::Openapi(settings) => openapi::run(&settings),
        Command::Completions(shell) => manual::completions(&shell, Arguments::command()),
        Command::Man(folder) => manual::man(&folder, Arguments::command()),
    }
}

async fn operate(
    AdminArguments { command, operator_key }: AdminArguments,
    connection: &ConnectionArguments,
    format: Format,
) -> Result<(), Failure> {
    let key = operator_key.as_ref();
    let connect = || Connection::of_operator(connection, key, format);
    match command {
        AdminCommand::Login(how) => admin::login(&how, connection, key).await,
        AdminCommand::WhoAmI => admin::who_am_i(&connect()?).await,
        AdminCommand::Tenant(command) => tenant(command, &connect()?).await,
        AdminCommand::Plan(command) => plan(command, &connect()?).await,
        AdminCommand::PriceBook(command) => price_book(command, &connect()?).await,
        AdminCommand::Invoice(command) => admin_invoice(command, &connect()?).await,
        AdminCommand::Credit(command) => credit(command, &connect()?).await,
        AdminCommand::Costs(which) => admin::costs(&which, &connect()?).await,
        AdminCommand::UsageEvents(which) => admin::usage_events(&which, &connect()?).await,
        AdminCommand::Key(KeyCommand::Create(key)) => admin::key_create(&key, &connect()?).await,
        AdminCommand::Key(KeyCommand::List(whose)) => admin::key_list(&whose, &connect()?).await,
        AdminCommand::Key(KeyCommand::Rotate(key)) => admin::key_rotate(&key, &connect()?).await,
        AdminCommand::Key(KeyCommand::Revoke(key)) => admin::key_revoke(&key, &connect()?).await,
        AdminCommand::OperatorKey(OperatorKeyCommand::Create(key)) => {
            admin::operator_key_create(&key, connect, format).await
        }
        AdminCommand::OperatorKey(OperatorKeyCommand::List) => {
            admin::operator_key_list(&connect()?).await
        }
        AdminCommand::OperatorKey(OperatorKeyCommand::Rotate(key)) => {
            admin::operator_key_rotate(&key, &connect()?).await
        }
        AdminCommand::OperatorKey(OperatorKeyCommand::Revoke(key)) => {
            admin::operator_key_revoke(&key, &connect()?).await
        }
        AdminCommand::User(UserCommand::Create(user)) => {
            admin::user_create(&user, &connect()?).await
        }
        AdminCommand::User(UserCommand::Put(user)) => admin::user_put(&user, &connect()?).await,
        AdminCommand::User(UserCommand::Remove(user)) => {
            admin::user_remove(&user, &connect()?).await
        }
        AdminCommand::User(UserCommand::List(whose)) => admin::user_list(&whose, &connect()?).await,
        AdminCommand::Pool(command) => pool(command, &connect()?).await,
        AdminCommand::Executor(ExecutorCommand::List(which)) => {
            admin::executor_list(&which, &connect()?).await
        }
        AdminCommand::Audit(AuditCommand::Verify(whose)) => {
            admin::audit_verify(&whose, format).await
        }
        AdminCommand::ResumeAfterRestore(how) => {
            admin::resume_after_restore(&how, &connect()?).await
        }
    }
}

async fn cap(command: CapCommand, connection: &Connection) -> Result<(), Failure> {
    match command {
        CapCommand::List => customer::cap_list(connection).await,
        CapCommand::Show(which) => customer::cap_show(connection, &which).await,
        CapCommand::Set(cap) => customer::cap_set(connection, &cap).await,
        CapCommand::Delete(which) => customer::cap_delete(connection, &which).await,
    }
}

async fn concurrency(command: ConcurrencyCommand, connection: &Connection) -> Result<(), Failure> {
    match command {
        ConcurrencyCommand::List(which) => customer::concurrency_list(connection, &which).await,
        ConcurrencyCommand::Show(key) => customer::concurrency_show(connection, &key).await,
        ConcurrencyCommand::Set(limit) => customer::concurrency_set(connection, &limit).await,
        ConcurrencyCommand::Delete(key) => customer::concurrency_delete(connection, &key).await,
    }
}

async fn schedule(command: ScheduleCommand, connection: &Connection) -> Result<(), Failure> {
    use customer::schedule;
    match command {
        ScheduleCommand::Put(what) => schedule::put(connection, *what).await,
        ScheduleCommand::Edit(what) => schedule::edit(connection, *what).await,
        ScheduleCommand::Get(which) => schedule::get(connection, &which).await,
        ScheduleCommand::List(which) => schedule::list(connection, &which).await,
        ScheduleCommand::Delete(which) => schedule::delete(connection, &which).await,
        ScheduleCommand::Pause(which) => schedule::pause(connection, &which).await,
        ScheduleCommand::Resume(which) => schedule::resume(connection, &which).await,
        ScheduleCommand::Trigger(which) => schedule::trigger(connection, &which).await,
        ScheduleCommand::Backfill(what) => schedule::backfill(connection, &what).await,
        ScheduleCommand::Fires(which) => schedule::fires(connection, &which).await,
        ScheduleCommand::Preview(which) => schedule::preview(connection, &which).await,
    }
}

async fn workflow(command: WorkflowCommand, connection: &Connection) -> Result<(), Failure> {
    use customer::workflow;
    match command {
        WorkflowCommand::Put(what) => workflow::put(connection, &what).await,
        WorkflowCommand::Get(which) => workflow::get(connection, &which).await,
        WorkflowCommand::List(which) => workflow::list(connection, &which).await,
        WorkflowCommand::Versions(which) => workflow::versions(connection, &which).await,
        WorkflowCommand::Diff(which) => workflow::diff(connection, &which).await,
        WorkflowCommand::Delete(which) => workflow::delete(connection, &which).await,
        WorkflowCommand::Check(what) => workflow::check(&what, connection.format),
        WorkflowCommand::Run(what) => workflow::run(connection, &what).await,
        WorkflowCommand::Runs(which) => workflow::runs(connection, &which).await,
        WorkflowCommand::Show(which) => workflow::show(connection, &which).await,
        WorkflowCommand::Graph(which) => workflow::graph(connection, &which).await,
        WorkflowCommand::Cancel(which) => workflow::cancel(connection, &which).await,
        WorkflowCommand::Rerun(what) => workflow::rerun(connection, &what).await,
    }
}

async fn webhook(command: WebhookCommand, connection: &Connection) -> Result<(), Failure> {
    use customer::webhook;
    match command {
        WebhookCommand::List => webhook::list(connection).await,
        WebhookCommand::Show(which) => webhook::show(connection, &which).await,
        WebhookCommand::Set(what) => webhook::set(connection, &what).await,
        WebhookCommand::Delete(which) => webhook::delete(connection, &which).await,
        WebhookCommand::Rotate(which) => webhook::rotate(connection, &which).await,
        WebhookCommand::Resume(which) => webhook::resume(connection, &which).await,
        WebhookCommand::Test(which) => webhook::test(connection, &which).await,
        WebhookCommand::Deliveries(which) => webhook::deliveries(connection, &which).await,
        WebhookCommand::Delivery(which) => webhook::delivery(connection, &which).await,
        WebhookCommand::Replay(which) => webhook::replay(connection, &which).await,
    }
}

async fn users(command: UsersCommand, connection: &Connection) -> Result<(), Failure> {
    match command {
        UsersCommand::List => customer::users_list(connection).await,
        UsersCommand::Invite(user) => customer::users_invite(connection, &user).await,
        UsersCommand::Put(user) => customer::users_put(connection, &user).await,
        UsersCommand::Role(user) => customer::users_role(connection, &user).await,
        UsersCommand::Remove(user) => customer::users_remove(connection, &user).await,
    }
}

async fn tenant(command: TenantCommand, connection: &Connection) -> Result<(), Failure> {
    match command {
        TenantCommand::Create(tenant) => admin::tenant_create(&tenant, connection).await,
        TenantCommand::Put(tenant) => admin::tenant_put(&tenant, connection).await,
        TenantCommand::List(which) => admin::tenant_list(&which, connection).await,
        TenantCommand::Show(which) => admin::tenant_show(&which, connection).await,
        TenantCommand::Suspend(which) => {
            admin::tenant_stand(&which, Standing::Suspended, connection).await
        }
        TenantCommand::Resume(which) => {
            admin::tenant_stand(&which, Standing::Active, connection).await
        }
        TenantCommand::Delete(which) => admin::tenant_delete(&which, connection).await,
        TenantCommand::SetPlan(what) => admin::tenant_set_plan(&what, connection).await,
    }
}

async fn plan(command: PlanCommand, connection: &Connection) -> Result<(), Failure> {
    match command {
        PlanCommand::List => admin::plan_list(connection).await,
        PlanCommand::Create(plan) => admin::plan_create(&plan, connection).await,
        PlanCommand::Set(plan) => admin::plan_set(&plan, connection).await,
        PlanCommand::Delete(which) => admin::plan_delete(&which, connection).await,
    }
}

async fn price_book(command: PriceBookCommand, connection: &Connection) -> Result<(), Failure> {
    match command {
        PriceBookCommand::List => admin::price_book_list(connection).await,
        PriceBookCommand::Get(which) => admin::price_book_get(&which, connection).await,
        PriceBookCommand::Put(book) => admin::price_book_put(&book, connection).await,
        PriceBookCommand::DryRun(what) => admin::price_book_dry_run(&what, connection).await,
        PriceBookCommand::Delete(which) => admin::price_book_delete(&which, connection).await,
    }
}

async fn quote(command: QuoteCommand, connection: &Connection) -> Result<(), Failure> {
    match command {
        QuoteCommand::Task(what) => customer::quote_task(connection, *what).await,
        QuoteCommand::Workflow(what) => customer::quote_workflow(connection, &what).await,
        QuoteCommand::Schedule(what) => customer::quote_schedule(connection, *what).await,
    }
}

async fn invoice(command: InvoiceCommand, connection: &Connection) -> Result<(), Failure> {
    match command {
        InvoiceCommand::List => customer::invoice_list(connection).await,
        InvoiceCommand::Get(which) => customer::invoice_get(connection, &which).await,
        InvoiceCommand::Download(which) => customer::invoice_download(connection, &which).await,
    }
}

async fn admin_invoice(
    command: AdminInvoiceCommand,
    connection: &Connection,
) -> Result<(), Failure> {
    match command {
        AdminInvoiceCommand::List(whose) => admin::invoice_list(&whose, connection).await,
        AdminInvoiceCommand::Finalize(which) => {
            admin::invoice_settle(&which, InvoiceMove::Finalize, connection).await
        }
        AdminInvoiceCommand::Pay(which) => {
            admin::invoice_settle(&which, InvoiceMove::Pay, connection).await
        }
        AdminInvoiceCommand::Void(which) => {
            admin::invoice_settle(&which, InvoiceMove::Void, connection).await
        }
        AdminInvoiceCommand::Billing(whose) => admin::billing(&whose, connection).await,
        AdminInvoiceCommand::SetBilling(how) => admin::set_billing(&how, connection).await,
    }
}

async fn credit(command: CreditCommand, connection: &Connection) -> Result<(), Failure> {
    match command {
        CreditCommand::List(whose) => admin::credit_list(&whose, connection).await,
        CreditCommand::Create(credit) => admin::credit_create(&credit, connection).await,
    }
}

async fn pool(command: PoolCommand, connection: &Connection) -> Result<(), Failure> {
    match command {
        PoolCommand::List => admin::pool_list(connection).await,
        PoolCommand::Flow(pool) => admin::pool_flow(connection, &pool.name).await,
        PoolCommand::Set(pool) => admin::pool_set(&pool, connection).await,
        PoolCommand::Pause(pool) => admin::pool_pause(&pool, connection).await,
        PoolCommand::Resume(pool) => admin::pool_resume(&pool, connection).await,
        PoolCommand::Delete(pool) => admin::pool_delete(&pool, connection).await,
    }
}
